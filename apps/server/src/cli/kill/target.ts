/** Reads the target of the kill switch from the command line. */
import { isId } from "@flyball/contract"
import { Agents, Chain, readFormerOrigins, Storage } from "@flyball/core"
import { portableCrypto, utf8 } from "@flyball/evidence"
import { CHANNEL_TARGET, DEPLOYMENT_TARGET, type KillTarget, orgUnitDigest } from "@flyball/rules"
import { Effect } from "effect"
import type { HostRuntime } from "../../host/open-host.ts"
import { UsageError } from "../arguments.ts"

/** Target as named on the command line, before the store is read. */
export type NamedTarget =
  | { readonly type: "agent"; readonly agent: string }
  | { readonly type: "model"; readonly model: string }
  | { readonly type: "org_unit"; readonly orgUnit: string }
  | { readonly type: "deployment" }

/** A target with words for people. */
export interface FoundTarget {
  readonly target: KillTarget
  /** The same org unit, as chains before a recovery named it. */
  readonly former?: ReadonlyArray<KillTarget>
  readonly words: string
}

/** The flags of every command that takes a target. */
export const targetFlags = { "org-unit": { type: "string" }, deployment: { type: "boolean" } } as const

/** How a target is named, for sentences. */
const TARGETS = "an agent (its id or exact name), model:ID, --org-unit NAME or --deployment"

/** Characters of a target's id. */
const MAX_TARGET = 200

/** Reads what is named: exactly one target. Fails with {@link UsageError}. */
export const namedTarget = (
  positionals: ReadonlyArray<string>,
  { deployment, "org-unit": orgUnit }: { readonly deployment?: boolean; readonly "org-unit"?: string }
): NamedTarget => {
  const named: ReadonlyArray<NamedTarget> = [
    ...positionals.map(positional),
    ...(orgUnit === undefined ? [] : [{ type: "org_unit", orgUnit } as const]),
    ...(deployment === true ? [{ type: "deployment" } as const] : [])
  ]
  const [one, more] = named
  if (one === undefined) throw new UsageError(`the target is missing: ${TARGETS}`)
  if (more !== undefined) throw new UsageError(`expected one target: ${TARGETS}`)
  return one
}

const positional = (text: string): NamedTarget => {
  if (!text.startsWith(MODEL)) return { type: "agent", agent: text }
  const model = text.slice(MODEL.length)
  if (model === "" || [...model].length > MAX_TARGET)
    throw new UsageError(`model: should be followed by the model as agents name it, 1 to ${MAX_TARGET} characters`)
  return { type: "model", model }
}

const MODEL = "model:"

/** Finds the target in the store. Fails: rejects with a sentence where no agent is named so. */
export const findTarget = (runtime: HostRuntime, named: NamedTarget): Promise<FoundTarget> => {
  switch (named.type) {
    case "agent":
      return runtime.runPromise(findAgent(named.agent))
    case "model":
      return Promise.resolve({ target: { type: "model", id: named.model }, words: `model ${named.model}` })
    case "org_unit":
      return runtime.runPromise(
        Effect.gen(function* () {
          const { originTag } = yield* Chain
          const targetBy = (tag: Uint8Array): KillTarget => ({
            type: "org_unit",
            id: orgUnitDigest(tag, named.orgUnit)
          })
          const former = (yield* readFormerOrigins(yield* Storage)).map((origin) => targetBy(originTagOf(origin)))
          return { target: targetBy(originTag), former, words: `org unit ${named.orgUnit}` }
        })
      )
    case "deployment":
      return Promise.resolve({ target: { type: "deployment", id: DEPLOYMENT_TARGET }, words: "the whole deployment" })
  }
}

/** The tag of a chain's name. */
const originTagOf = (origin: string): Uint8Array => portableCrypto.sha256(utf8(origin)).slice(0, 4)

const findAgent = (named: string) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const found = isId("agent", named)
      ? yield* Effect.catchTag(agents.get(named), "AgentNotFound", () => Effect.succeed(null))
      : yield* agents.find(named)
    if (found === null)
      return yield* Effect.fail(
        new Error(
          `there is no agent with the ${isId("agent", named) ? "id" : "exact name"} ` +
            `${JSON.stringify(named.slice(0, MAX_TARGET))} in this store. Nothing was halted or released. ` +
            "GET /api/v1/agents lists them; --org-unit NAME and --deployment reach agents without naming them"
        )
      )
    return { target: { type: "agent", id: found.id }, words: `agent ${found.name} (${found.id})` } as const
  })

/** Words for a target that a record names. The name of an org unit is not in it. */
export const wordsOf = (runtime: HostRuntime, { id, type }: KillTarget): Promise<string> =>
  type === "agent" && id !== CHANNEL_TARGET
    ? runtime.runPromise(
        Agents.use((agents) => agents.get(id)).pipe(
          Effect.map(({ name }) => `agent ${name} (${id})`),
          Effect.catchTag("AgentNotFound", () => Effect.succeed(`agent ${id}`))
        )
      )
    : Promise.resolve(
        type === "deployment"
          ? "the whole deployment"
          : `${type === "org_unit" ? "the org unit with the digest" : type} ${id}`
      )
