/** `@bufbuild/cel`, an expression planned once: the export to CEL. */
import { exportEnvelope } from "../../packages/envelope/src/export/export-envelope.ts"
import type { Answer, Engine } from "./engines.ts"
import { installed } from "./installed.ts"

interface Cel {
  readonly celEnv: () => object
  readonly parse: (text: string) => object
  readonly plan: (
    env: object,
    expression: object
  ) => (bindings: { readonly signals: ReadonlyMap<string, unknown> }) => { readonly get: (name: string) => unknown }
}

/** See the file's first line. */
export const engine: Engine = {
  name: "@bufbuild/cel 0.6.1",
  does: "ends at the first rule that holds",
  load: async (_, json) => {
    const exported = exportEnvelope(json, "cel")
    if (!("text" in exported)) throw new Error(exported.refusals.join(" "))
    const { celEnv, parse, plan } = await installed<Cel>("@bufbuild/cel")
    const run = plan(celEnv(), parse(exported.text))
    return (signals) => {
      // A number of JavaScript would be a double of CEL.
      const given = {
        signals: new Map(
          Object.entries(signals).map(([name, value]) => [name, typeof value === "number" ? BigInt(value) : value])
        )
      }
      return (): Answer => {
        const result = run(given)
        if (result instanceof Error) throw result
        return { outcome: String(result.get("outcome")), rule: String(result.get("rule")) }
      }
    }
  }
}
