/**
 * `node benchmarks/documents/receipts.ts FOLDER`: of receipts whose text is given (`data/box`, `data/key` of
 * `zzzDavid/ICDAR-2019-SROIE`), how much the rules read as the labels say it. Receipts are in two halves by a hash:
 * rules were improved on half 0 alone.
 */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { extractFields } from "@flyball/rules"
import { datesIn } from "../../packages/rules/src/documents/values.ts"

const [folder] = process.argv.slice(2) as [string]
/** Width of a page. Unit: hundredths of a point. */
const WIDTH = 60_000
const squeezed = (text: string): string => text.toUpperCase().replace(/[^\p{L}\d]/gu, "")
const amount = (text: string): string => Number(text.replace(/[^\d.]/g, "")).toFixed(2)

interface Outcome {
  readonly half: number
  readonly field: string
  readonly right: boolean
  readonly isSure: boolean
}

const outcomes = readdirSync(`${folder}/data/key`).flatMap((file): ReadonlyArray<Outcome> => {
  const id = file.replace(".json", "")
  const half = Number.parseInt(createHash("sha256").update(id).digest("hex")[7]!, 16) % 2
  const key = JSON.parse(readFileSync(`${folder}/data/key/${file}`, "utf8")) as { readonly [field: string]: string }
  const rows = readFileSync(`${folder}/data/box/${id}.csv`, "latin1")
    .split(/\r?\n/)
    .flatMap((line) => {
      const cells = line.split(",")
      const [x, y, , , right, bottom] = cells.map(Number) as [number, number, number, number, number, number]
      return cells.length < 9 ? [] : [{ x, y, right, bottom, text: cells.slice(8).join(",") }]
    })
  const scale = WIDTH / Math.max(...rows.map(({ right }) => right))
  const scaled = (length: number): number => Math.round(length * scale)
  const items = rows.map(({ bottom, right, text, x, y }) => {
    const box = { x: scaled(x), y: scaled(y), width: scaled(right - x), height: scaled(bottom - y) }
    return { text, ...box, hidden: null }
  })
  const height = Math.max(...items.map((item) => item.y + item.height))
  const { candidates, fields } = extractFields(
    { pages: [{ width: WIDTH, height, items }], xml: [], warnings: [] },
    "receipt"
  )
  const isRight: { readonly [field: string]: (said: string, label: string) => boolean } = {
    date: (said, label) => datesIn(label, false).some(({ value }) => value === said),
    total: (said, label) => amount(said) === amount(label),
    company: (said, label) => squeezed(said) === squeezed(label)
  }
  return Object.entries(isRight).flatMap(([field, matches]) => {
    const label = key[field] ?? ""
    if (label === "" || (field === "date" && datesIn(label, false).length === 0)) return []
    const said = fields[field] ?? candidates[field]
    const right = said !== undefined && matches(said.value, label)
    return [{ half, field, right, isSure: (fields[field]?.confidence ?? 0) >= 900 }]
  })
})

const share = (all: ReadonlyArray<Outcome>): string => {
  const right = all.filter((one) => one.right).length
  return `${right} of ${all.length}, ${(right / Math.max(1, all.length)).toFixed(3)}`
}
for (const half of [0, 1]) {
  const all = outcomes.filter((one) => one.half === half)
  for (const [field, of] of Map.groupBy(all, (one) => one.field)) console.log(`half ${half}, ${field}: ${share(of)}`)
  console.log(`half ${half}, stated at 0.9 or more: ${share(all.filter((one) => one.isSure))}`)
}
