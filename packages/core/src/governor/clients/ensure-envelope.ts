/** Brings an envelope's text into force once, whatever an earlier attempt left. */
import { envelopeDigest } from "@flyball/envelope"
import { GovernorError } from "../../foundation/governor-error.ts"
import type { EnvelopeInfo } from "@flyball/contract"
import { takenDownOrRefused } from "./input.ts"
import type { EnsureOptions, EnvelopeInput, EnvelopesClient } from "./types/bound-client-types.ts"

/** Attempts while other processes do the same. */
const MAX_ATTEMPTS = 4

/** Refusals that say that somebody else changed the envelope in between. */
const raced: ReadonlyArray<string> = ["envelope_exists", "envelope_revision_conflict", "nothing_to_publish"]

/** Creates, writes and publishes what of it is missing. */
export const ensureEnvelope = async (
  envelopes: Omit<EnvelopesClient, "ensure">,
  input: EnvelopeInput,
  options?: EnsureOptions | null
): Promise<EnvelopeInfo> => {
  const taken = takenDownOrRefused(input ?? {}) as EnvelopeInput
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(envelopes, taken, options ?? {})
    } catch (cause) {
      if (!(cause instanceof GovernorError) || !raced.includes(cause.code) || attempt === MAX_ATTEMPTS) throw cause
    }
  }
}

/** The digest of a text; null of one that has none, which the update refuses. */
const digestOf = (envelope: EnvelopeInput["envelope"]): string | null => {
  try {
    return `sha256:${envelopeDigest(envelope)}`
  } catch {
    return null
  }
}

const attemptOnce = async (
  envelopes: Omit<EnvelopesClient, "ensure">,
  input: EnvelopeInput,
  { approver, signal, writer }: EnsureOptions
): Promise<EnvelopeInfo> => {
  const found = await find(envelopes, input)
  if (found === null) await envelopes.create(input, { signal, writer })
  const envelope = found ?? (await find(envelopes, input))!
  const digest = digestOf(input.envelope)
  const versions = await envelopes.versions(envelope.id)
  if (versions.some((version) => version.digest === digest && version.mode === "enforced")) return envelope
  const { revision } =
    envelope.draft?.digest === digest
      ? envelope
      : await envelopes.update(
          envelope.id,
          { envelope: input.envelope, if_revision: envelope.revision },
          { signal, writer }
        )
  await envelopes.publish(envelope.id, { if_revision: revision }, { signal, writer: approver ?? writer })
  return envelopes.get(envelope.id)
}

/** The envelope of the agent or org unit; each has one at most. */
const find = async (
  envelopes: Omit<EnvelopesClient, "ensure">,
  { agent_id, org_unit }: EnvelopeInput
): Promise<EnvelopeInfo | null> => {
  const all = await envelopes.list(typeof agent_id === "string" ? { agent_id } : {})
  return all.find((one) => one.agent_id === (agent_id ?? null) && one.org_unit === (org_unit ?? null)) ?? null
}
