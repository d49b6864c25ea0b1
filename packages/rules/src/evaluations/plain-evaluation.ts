/**
 * Whether a body of `evaluation.made` is as the catalogue says, found in one look where it is like nearly all of them.
 * The catalogue's own check is for bodies of any kind and
 * takes as long as deciding; this one only ever says yes where that one does, and a test holds the two together.
 */
import { recordKinds } from "@flyball/evidence"
import { RULES } from "../records/rules-version.ts"
import type { Json, JsonMap } from "../records/record.ts"

const names = recordKinds.find(({ kind }) => kind === "evaluation.made")!.body.map(({ name }) => name)

const IN_NAME = 1
const IN_ID = 2
const IN_HASH = 4
/** What each of the ASCII signs may be part of. */
const partOf = new Uint8Array(128)
for (const sign of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/@+-")
  partOf[sign.charCodeAt(0)]! |= IN_NAME
for (const sign of "0123456789abcdefghjkmnpqrstvwxyz") partOf[sign.charCodeAt(0)]! |= IN_ID
for (const sign of "0123456789abcdef") partOf[sign.charCodeAt(0)]! |= IN_HASH

/**
 * True: the catalogue finds nothing, but for `evaluation_id`, of which nothing is said. False: ask it. Members that few
 * evaluations have are its to judge.
 *
 * `isAgent`: whether a text is the id of an agent that a record registered.
 */
export const isPlainEvaluation = (body: JsonMap, isAgent: (id: string) => boolean): boolean => {
  // No others, in their order; of each that must be there the value is looked at below.
  let next = 0
  for (const name in body) {
    while (names[next] !== name) if (next++ === names.length) return false
    next++
  }
  const { agent_id: agentId, agent_status: status, decided_by: decidedBy, mode, outcome, tier } = body
  return (
    (status === "active" || status === "suspended") &&
    decidedBy === "server" &&
    mode === "enforced" &&
    isOutcome(outcome) &&
    isTier(tier) &&
    typeof agentId === "string" &&
    isAgent(agentId) &&
    isWriter(body["writer"]) &&
    isCount(body["as_of_ms"]) &&
    isCount(body["as_of_seq"]) &&
    isName(body["client_ref"], 128) &&
    isRule(body["matched_rule"]) &&
    (body["effective_tier"] === undefined || isTier(body["effective_tier"])) &&
    (body["rules"] === undefined || isKnownRules(body["rules"])) &&
    (body["run_id"] === undefined || isRun(body["run_id"])) &&
    (body["stopped_on"] === undefined || isName(body["stopped_on"], 64)) &&
    body["action_digest"] === undefined &&
    body["approval_id"] === undefined &&
    body["review_id"] === undefined &&
    body["shadow"] === undefined &&
    body["waivers"] === undefined &&
    (body["latches"] === undefined || areLatches(body["latches"])) &&
    areLayers(body["layers"]) &&
    areMeters(body["meters"]) &&
    isTrace(body["trace"])
  )
}

/** Whether a value is an id of an evaluation. */
export const isEvaluationId = (value: Json | undefined): boolean => isId(value, "evl_")

/** Newer rules are for the slow path to report. */
const isKnownRules = (value: Json): boolean => isCount(value) && Number(value) >= 1 && Number(value) <= RULES

const isTier = (value: Json | undefined): boolean =>
  value === "L2" || value === "L3" || value === "L1" || value === "L4" || value === "L0"

const isOutcome = (value: Json | undefined): boolean =>
  value === "allow" ||
  value === "deny" ||
  value === "require_review" ||
  value === "allow_with_notice" ||
  value === "halt"

const isCount = (value: Json | undefined): boolean =>
  typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value

const isText = (value: string, from: number, part: number): boolean => {
  for (let i = from; i < value.length; i++) if ((partOf[value.charCodeAt(i)]! & part) === 0) return false
  return true
}

const isName = (value: Json | undefined, max: number): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= max && isText(value, 0, IN_NAME)

const isId = (value: Json | undefined, prefix: string): boolean =>
  typeof value === "string" &&
  value.length === 30 &&
  value.charCodeAt(0) === prefix.charCodeAt(0) &&
  value.charCodeAt(1) === prefix.charCodeAt(1) &&
  value.charCodeAt(2) === prefix.charCodeAt(2) &&
  value.charCodeAt(3) === prefix.charCodeAt(3) &&
  value.charCodeAt(4) >= 0x30 &&
  value.charCodeAt(4) <= 0x37 &&
  isText(value, 5, IN_ID)

/** Texts that are remembered of each sort. A power of two. */
const KEPT = 256

/**
 * The same check, of texts that come again and again, as those of envelopes, windows, runs and rules do: comparing two
 * texts costs less than looking at each sign. By their last two signs, and never an empty one.
 */
const remembering = (isRight: (text: string) => boolean): ((value: Json | undefined) => boolean) => {
  const kept = new Array<string>(KEPT).fill("")
  return (value) => {
    if (typeof value !== "string" || value.length < 2) return typeof value === "string" && isRight(value)
    const place = ((value.charCodeAt(value.length - 2) << 5) ^ value.charCodeAt(value.length - 1)) & (KEPT - 1)
    if (kept[place] === value) return true
    if (!isRight(value)) return false
    kept[place] = value
    return true
  }
}
const isEnvelopeId = remembering((text) => isId(text, "env_"))
const isWindow = remembering((text) => isId(text, "mtr_"))
const isRule = remembering((text) => isName(text, 128))
const isRun = remembering((text) => isName(text, 200))
const isMeter = remembering((text) => isName(text, 64))

/** The writer that was seen last: neighbours have the same. */
let lastWriter = ""
const isWriter = (value: Json | undefined): boolean => {
  if (typeof value === "string" && value === lastWriter && value !== "") return true
  if (!isId(value, "key_") && !isId(value, "usr_")) return false
  lastWriter = value as string
  return true
}

/** The digest that was seen last: neighbours name the same envelope. */
let lastHash = ""
const isHash = (value: Json | undefined): boolean => {
  if (typeof value !== "string") return false
  if (value === lastHash && value !== "") return true
  if (value.length !== 64 || !isText(value, 0, IN_HASH)) return false
  lastHash = value
  return true
}

const areLatches = (value: Json): boolean =>
  Array.isArray(value) && value.length >= 1 && value.length <= 64 && value.every((name: Json) => isName(name, 64))

const areLayers = (value: Json | undefined): boolean => {
  if (!Array.isArray(value) || value.length > 15) return false
  for (const layer of value as ReadonlyArray<Json>) {
    if (typeof layer !== "object" || layer === null || Array.isArray(layer)) return false
    let count = 0
    for (const _ in layer) count++
    const { digest, envelope_id: envelopeId, version } = layer as JsonMap
    if (
      count !== 3 ||
      !isHash(digest) ||
      !isEnvelopeId(envelopeId) ||
      !isCount(version) ||
      Number(version) < 1 ||
      Number(version) > 1_000_000
    )
      return false
  }
  return true
}

const areMeters = (value: Json | undefined): boolean => {
  if (!Array.isArray(value) || value.length > 48) return false
  for (const meter of value as ReadonlyArray<Json>) {
    if (typeof meter !== "object" || meter === null || Array.isArray(meter)) return false
    let count = 0
    for (const _ in meter) count++
    const { after, amount, id, value: held, window } = meter as JsonMap
    if (
      count !== (amount === undefined ? 4 : 5) ||
      !isCount(after) ||
      (amount !== undefined && !isCount(amount)) ||
      !isMeter(id) ||
      !isCount(held) ||
      !isWindow(window)
    )
      return false
  }
  return true
}

/** A number for each rule. */
const isTrace = (value: Json | undefined): boolean => {
  if (!Array.isArray(value) || value.length > 1_100) return false
  for (let i = 0; i < value.length; i++) {
    const one: Json = value[i]
    if (typeof one !== "number" || !(one >= -2 && one <= 255) || (one | 0) !== one) return false
  }
  return true
}
