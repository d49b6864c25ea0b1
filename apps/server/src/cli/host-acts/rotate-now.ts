/** Rotates the signing key as the operator at the host, and says what auditors need. */
import { KeyRotation, type Rotated } from "@flyball/core"
import type { HostRuntime } from "../../host/open-host.ts"

/** Rotates the key; answers what to print. Rejects with a sentence. */
export const rotateNow = async (runtime: HostRuntime): Promise<string> =>
  rotationText(await runtime.runPromise(KeyRotation.use(({ rotate }) => rotate)))

/** Both keys, the checkpoint that both signed, and what to send to auditors. */
export const rotationText = ({
  checkpoint,
  fromVkey,
  seq,
  toVkey
}: Rotated): string => `The signing key was rotated in record ${seq}.

old key: ${fromVkey}
new key: ${toVkey}

The checkpoint of ${checkpoint.size} records carries both signatures:

${checkpoint.note}
Send this text to everyone who pinned the old key, over the channel that gave them that key, not only in a pack.
They check the checkpoint with the old key and with the new one, and pin the new one: from now on the new key
alone signs checkpoints and packs. A pack shows both at once:
flyball-verify PACK --vkey OLD --vkey NEW. The old private key is destroyed; copies in backups are not.
Back up the data folder now: a copy from before the rotation cannot continue the chain.`
