/** Checks that an evaluation used the versions and waivers in force. Spec: envelopes.md 3.8; decision 0026. */
import type { EvaluationBody, SideBody } from "../../evaluations/evaluation-body.ts"
import type { GovernedState, InForce } from "../../evaluations/governed-state.ts"
import type { Layer } from "../../evaluations/layers.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/**
 * Checks the versions and waivers that a body names; answers the problem, or why it is unknown. `fromGenesis`: nothing
 * exists that no record here creates.
 */
export const judgeLayers = (
  state: GovernedState,
  body: EvaluationBody,
  inForce: InForce,
  fromGenesis: boolean
): Problem | null => {
  if (
    inForce !== null &&
    areThese(body, inForce.live) &&
    (body.shadow === undefined
      ? inForce.shadow === null
      : inForce.shadow !== null && areThese(body.shadow, inForce.shadow))
  ) {
    const waivers = waiversOf(inForce.live)
    const { waivers: named = none } = body
    // The common case: the named versions are those in force, all are known, and no waiver applies.
    if (waivers.length === 0 && named.length === 0) return null
  }
  const unlike =
    unlikeVersion(state, body, false, fromGenesis) ??
    (body.shadow === undefined ? null : unlikeVersion(state, body.shadow, true, fromGenesis))
  if (unlike !== null || inForce === null) return unlike
  const waivers = waiversOf(inForce.live)
  const named = body.waivers ?? none
  const areOthers = waivers.join() !== named.join()
  if (
    !fromGenesis &&
    (differs(body, inForce.live) || (body.shadow !== undefined && differs(body.shadow, inForce.shadow)) || areOthers)
  ) {
    return problem("withheld", "An envelope or waiver in force is from before the first record here.")
  }
  if (differs(body, inForce.live))
    return problem(
      "envelope_not_in_force",
      `${inForce.live.length} envelopes were in force for the agent; the record names ${body.layers.length}, or others.`
    )
  if (differs(body.shadow ?? null, inForce.shadow))
    return problem("envelope_not_in_force", "The record names other versions on trial than there were.")
  if (areOthers)
    return problem(
      "envelope_not_in_force",
      `${waivers.length} waivers held; the record names ${named.length}, or others.`
    )
  const hidden = waivers.find((id) => state.isWithheld(id))
  return hidden === undefined ? null : problem("withheld", `The exception of the waiver ${hidden} is not shown.`)
}

/** A version that was not published with this content, or was not in force. */
const unlikeVersion = (
  state: GovernedState,
  { layers }: SideBody,
  isTrial: boolean,
  fromGenesis: boolean
): Problem | null => {
  for (const { digest, envelope_id: envelopeId, version } of layers) {
    const known = state.version(envelopeId, version)
    if (known === null && !fromGenesis) continue
    if (known === null || known.digest !== digest || known.content === "not an envelope")
      return problem("envelope_unknown", `Version ${version} of ${envelopeId} was not published with this content.`)
    if (!state.isInForce(envelopeId, version, isTrial))
      return problem(
        "envelope_not_in_force",
        `Version ${version} of ${envelopeId} was published, but was not in force here.`
      )
  }
  return null
}

/** True when a side names exactly these versions, each with its content as far as that is known. */
const areThese = ({ layers: named }: SideBody, layers: ReadonlyArray<Layer>): boolean => {
  if (named.length !== layers.length) return false
  for (let i = 0; i < layers.length; i++) {
    const { digest, envelope, envelopeId, version } = layers[i]!
    const one = named[i]!
    if (envelope === null || one.version !== version || one.digest !== digest || one.envelope_id !== envelopeId)
      return false
  }
  return true
}

/** True when a side names other versions than these. */
const differs = (side: SideBody | null, layers: ReadonlyArray<Layer> | null): boolean =>
  side === null || layers === null
    ? (side === null) !== (layers === null)
    : side.layers.length !== layers.length ||
      side.layers.some(
        ({ envelope_id, version }, place) =>
          layers[place]!.envelopeId !== envelope_id || layers[place]!.version !== version
      )

const waiversOf = (layers: ReadonlyArray<Layer>): ReadonlyArray<string> => {
  for (const { waivers } of layers)
    if (waivers.length > 0) return layers.flatMap((layer) => layer.waivers.map(({ id }) => id))
  return none
}

const none: ReadonlyArray<string> = []
