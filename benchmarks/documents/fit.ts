/** `node benchmarks/documents/fit.ts`: fits the confidence of fields and writes it as a constant of the rules. */
import { writeFileSync } from "node:fs"
import { fit, labelledInvoices, outcomesOf } from "./corpus.ts"

/** A model's value: below rules that are sure, since nobody measured the model of a caller. Unit: thousandths. */
const MODEL = 700

const fitted = fit(outcomesOf(await labelledInvoices()))
const table = Object.entries({ ...fitted, model: MODEL }).sort(([a], [b]) => (a < b ? -1 : 1))
const rows = table.map(([bin, value]) => `  ${JSON.stringify(bin)}: ${value}`)
const text = `/**
 * Share of fields that were right, by their evidence, in thousandths: ${rows.length} bins. Written by
 * \`node benchmarks/documents/fit.ts\`, never by hand; \`model\` is no share, but set.
 */
export const confidenceTable: { readonly [bin: string]: number } = {
${rows.join(",\n")}
}
`
writeFileSync(new URL("../../packages/rules/src/documents/confidence-table.ts", import.meta.url), text)
process.exit(0)
