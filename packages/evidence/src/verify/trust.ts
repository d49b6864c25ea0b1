/** Trust settings of the user of a verifier. They come from the user alone, never from the pack. */
import { utf8 } from "../bytes.ts"
import type { Checkpoint } from "../checkpoint/checkpoint.ts"
import { parseCheckpoint } from "../checkpoint/checkpoint.ts"
import type { Crypto } from "../crypto.ts"
import type { Note } from "../note/note.ts"
import { parseNote } from "../note/note.ts"
import type { Vkey } from "../note/vkey.ts"
import { checkVkey, parseVkey, signatureType } from "../note/vkey.ts"
import type { Policy, PolicyWitness } from "../policy/policy.ts"
import { parsePolicy } from "../policy/policy.ts"

/** Keys and rules that a user gave. */
export interface Trust {
  /** Log keys, of whatever origin; each pack uses those named like its own. */
  readonly logs: ReadonlyArray<Vkey>
  /** Cosigners, from the policy and among the vkeys. */
  readonly witnesses: ReadonlyArray<PolicyWitness>
  /** Names of the cosigners among the vkeys, each once. Every one of them is expected to have cosigned. */
  readonly pinnedWitnesses: ReadonlyArray<string>
  readonly policy: Policy | null
  readonly checkpoint: TrustedCheckpoint | null
}

/** A checkpoint that the user keeps from an earlier verification. */
export interface TrustedCheckpoint extends Checkpoint {
  readonly note: Note
}

/**
 * The user's trust settings cannot be used: a mistake of the call, not a finding about a pack. Spec: format 1 section
 * 6.1, "Unusable input".
 */
export class UnusableTrust extends Error {
  override readonly name = "UnusableTrust"
}

/**
 * Reads what the user trusts, before any pack is read.
 *
 * - Fails: throws `UnusableTrust` with a sentence that says what to correct.
 */
export const readTrust = (
  crypto: Crypto,
  given: {
    readonly vkeys?: ReadonlyArray<string>
    readonly policy?: Uint8Array | string
    readonly trustedCheckpoint?: Uint8Array | string
  }
): Trust => {
  const vkeys = (given.vkeys ?? []).map((text, index) => readVkey(crypto, text, index + 1))
  const cosigners = vkeys.filter((vkey) => vkey.type === signatureType.cosignature)
  const policy = given.policy === undefined ? null : readPolicy(crypto, given.policy)
  return {
    logs: [...vkeys.filter((vkey) => vkey.type === signatureType.ed25519), ...(policy?.logs ?? [])],
    witnesses: [
      // A space keeps these names apart from the policy's, so that they never count towards its quorum.
      ...cosigners.map((vkey) => ({ name: `given ${vkey.name}`, vkey })),
      ...(policy?.witnesses ?? [])
    ],
    pinnedWitnesses: [...new Set(cosigners.map((vkey) => vkey.name))],
    policy,
    checkpoint: given.trustedCheckpoint === undefined ? null : readTrusted(given.trustedCheckpoint)
  }
}

const readVkey = (crypto: Crypto, text: string, number: number): Vkey => {
  const parsed = parseVkey(text.trim())
  if (!parsed.ok)
    throw new UnusableTrust(`vkey ${number} cannot be read: ${parsed.reason}. Copy it whole from the chain's owner.`)
  const unusable = checkVkey(crypto, parsed.vkey)
  if (unusable !== null)
    throw new UnusableTrust(`vkey ${number} cannot be used: ${unusable}. Ask the chain's owner for the right one.`)
  return parsed.vkey
}

const readPolicy = (crypto: Crypto, given: Uint8Array | string): Policy => {
  const parsed = parsePolicy(crypto, typeof given === "string" ? utf8(given) : given)
  if (!parsed.ok) throw new UnusableTrust(`the policy cannot be used, line ${parsed.line}: ${parsed.reason}.`)
  return parsed.policy
}

const readTrusted = (given: Uint8Array | string): TrustedCheckpoint => {
  const note = parseNote(typeof given === "string" ? utf8(given) : given)
  if (!note.ok)
    throw new UnusableTrust(
      `the trusted checkpoint cannot be read: ${note.reason}. Give the file as the log signed it.`
    )
  const checkpoint = parseCheckpoint(note.note.text)
  if (!checkpoint.ok) throw new UnusableTrust(`the trusted checkpoint cannot be read: ${checkpoint.reason}.`)
  return { ...checkpoint.checkpoint, note: note.note }
}
