/** `node benchmarks/documents/fit.ts`: fits the confidence of fields and writes it as a constant of the rules. */
import { writeFileSync } from "node:fs"
import { fit, labelledInvoices, outcomesOf } from "./corpus.ts"

const table = fit(outcomesOf(await labelledInvoices()))
const rows = Object.entries(table).map(([bin, value]) => `  ${JSON.stringify(bin)}: ${value}`)
const text = `/**
 * Share of fields that were right, by their evidence, in thousandths: ${rows.length} bins. Written by
 * \`node benchmarks/documents/fit.ts\`, never by hand.
 */
export const confidenceTable: { readonly [bin: string]: number } = {
${rows.join(",\n")}
}
`
writeFileSync(new URL("../../packages/rules/src/documents/confidence-table.ts", import.meta.url), text)
process.exit(0)
