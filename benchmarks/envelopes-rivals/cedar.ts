/** `@cedar-policy/cedar-wasm`, policies parsed once: the export to Cedar. */
import { exportEnvelope } from "../../packages/envelope/src/export/export-envelope.ts"
import type { Answer, Engine } from "./engines.ts"
import { installed } from "./installed.ts"
import { severity, silence } from "./wins.ts"

interface CedarAnswer {
  readonly type: string
  readonly response?: {
    readonly decision: string
    readonly diagnostics: { readonly reason: ReadonlyArray<string>; readonly errors: ReadonlyArray<object> }
  }
}

interface Cedar {
  readonly preparsePolicySet: (id: string, policies: { readonly staticPolicies: string }) => { readonly type: string }
  readonly statefulIsAuthorized: (call: object) => CedarAnswer
}

const one = (type: string) => ({ type, id: "one" })
let sets = 0

/** See the file's first line. */
export const engine: Engine = {
  name: "@cedar-policy/cedar-wasm 4.13.0",
  does: "all rules, preparsed; JSON goes into wasm and back",
  load: async (combination, json) => {
    const exported = exportEnvelope(json, "cedar")
    if (!("text" in exported)) throw new Error(exported.refusals.join(" "))
    const { preparsePolicySet, statefulIsAuthorized } = await installed<Cedar>("@cedar-policy/cedar-wasm/nodejs")
    const set = `envelope ${sets++}`
    const parsed = preparsePolicySet(set, { staticPolicies: exported.text })
    if (parsed.type !== "success") throw new Error(`Cedar does not take the export: ${JSON.stringify(parsed)}`)
    const { rules } = combination.compiled
    return (context) => (): Answer => {
      const { response } = statefulIsAuthorized({
        principal: one("Agent"),
        action: one("Action"),
        resource: one("Tool"),
        context,
        preparsedPolicySetId: set,
        entities: []
      })
      if (response === undefined || response.diagnostics.errors.length > 0)
        throw new Error(`Cedar does not answer: ${JSON.stringify(response)}`)
      // Policies of a text are named by their places.
      const places = response.diagnostics.reason.map((id) => Number(id.slice("policy".length))).sort((a, b) => a - b)
      const best = places
        .map((place): Answer => ({ outcome: rules[place]!.outcome, rule: rules[place]!.id }))
        .reduce(
          (worst: Answer | null, found) => (worst === null || severity(found) > severity(worst) ? found : worst),
          null
        )
      const answer = best ?? silence(combination)
      if ((response.decision === "allow") !== severity(answer) < 2)
        throw new Error(`Cedar says ${response.decision}, its reasons say ${answer.outcome}.`)
      return answer
    }
  }
}
