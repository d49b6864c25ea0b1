/** `@marcbachmann/cel-js`, an expression parsed once: the export to CEL. */
import { exportEnvelope } from "../../packages/envelope/src/export/export-envelope.ts"
import type { Answer, Engine } from "./engines.ts"
import { installed } from "./installed.ts"

type Bindings = { readonly signals: { readonly [name: string]: unknown } }

interface CelJs {
  readonly parse: (text: string) => (bindings: Bindings) => Answer
}

/** See the file's first line. */
export const engine: Engine = {
  name: "@marcbachmann/cel-js 8.0.0",
  does: "ends at the first rule that holds",
  load: async (_, json) => {
    const exported = exportEnvelope(json, "cel")
    if (!("text" in exported)) throw new Error(exported.refusals.join(" "))
    const { parse } = await installed<CelJs>("@marcbachmann/cel-js")
    const run = parse(exported.text)
    return (signals) => {
      const given = {
        signals: Object.fromEntries(
          Object.entries(signals).map(([name, value]) => [name, typeof value === "number" ? BigInt(value) : value])
        )
      }
      return () => run(given)
    }
  }
}
