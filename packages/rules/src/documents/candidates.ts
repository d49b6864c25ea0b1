/** Values that a document prints, and how well the labels around each speak for a field. */
import { ibansIn, vatIdsIn } from "./checksums.ts"
import { type Label, labelsIn, type ValueKind } from "./labels.ts"
import type { Line, Segment } from "./layout.ts"
import { amountsIn, datesIn, type Found } from "./values.ts"

/** A value where it is printed. */
export interface Candidate extends Found {
  readonly kind: ValueKind
  readonly segment: Segment
}

/** How a label stands to a value. */
export type Place = "same" | "left" | "above" | "column" | "none"

/** A value for a field. `score`: 0 to 100. */
export interface Scored {
  readonly candidate: Candidate
  readonly score: number
  readonly place: Place
  readonly label: string | null
}

/** The lines of a document with their values and labels. */
export interface Page {
  readonly lines: ReadonlyArray<Line>
  readonly candidates: ReadonlyArray<Candidate>
}

const idPattern = /(?<![\p{L}\d])(?=[\p{L}\d/._-]*\d)[\p{Lu}\d][\p{L}\d]*(?:[/._–-][\p{L}\d]+)*(?![\p{L}\d])/gu
const wordId = /(?<![\p{L}\d])[a-z]+(?:_[a-z\d]+)+(?![\p{L}\d])/gu

/** Numbers of documents: words with a digit that are no date, amount, IBAN or VAT id. */
const idsIn = (
  text: string,
  taken: ReadonlyArray<{ readonly from: number; readonly to: number }>
): ReadonlyArray<Found> =>
  [...text.matchAll(idPattern), ...text.matchAll(wordId)].flatMap((match) => {
    const [from, to] = [match.index, match.index + match[0].length]
    return match[0].length > 32 || match[0].length < 2 || taken.some((other) => from < other.to && to > other.from)
      ? []
      : [{ value: match[0], from, to }]
  })

/** Finds every value in the lines. */
export const readPage = (lines: ReadonlyArray<Line>, american: boolean): Page => {
  const candidates: Array<Candidate> = []
  for (const segment of lines.flat()) {
    const { text } = segment
    const dates = datesIn(text, american)
    const amounts = amountsIn(text).filter(({ from, to }) => dates.every((date) => to <= date.from || from >= date.to))
    const ids = idsIn(text, [
      ...dates,
      ...amounts.filter(({ currency, value }) => currency !== undefined || !value.endsWith(".00")),
      ...ibansIn(text),
      ...vatIdsIn(text)
    ])
    for (const found of dates) candidates.push({ ...found, kind: "date", segment })
    for (const found of amounts) candidates.push({ ...found, kind: "amount", segment })
    for (const found of ids) candidates.push({ ...found, kind: "id", segment })
  }
  return { lines, candidates }
}

/** The box of a part of a segment: letters are taken to be equally wide. */
export const boxOf = (segment: Segment, from: number, to: number): readonly [number, number, number, number] => {
  const letter = (segment.right - segment.x) / Math.max(1, segment.text.length)
  return [Math.round(segment.x + from * letter), segment.y, Math.round((to - from) * letter), segment.height]
}

const LINES_ABOVE = 3

/** Scores values of a kind for the fields of that kind. */
export const scoreAll = (
  page: Page,
  kind: ValueKind
): ReadonlyArray<{ readonly field: string; readonly scored: Scored }> => {
  const labels = new Map<Segment, ReadonlyArray<Label>>()
  const labelsOf = (segment: Segment): ReadonlyArray<Label> => {
    const known = labels.get(segment)
    if (known !== undefined) return known
    const found = labelsIn(segment.text, kind)
    labels.set(segment, found)
    return found
  }
  const valued = new Set(page.candidates.filter((one) => one.kind === kind).map(({ segment }) => segment))
  /** The last label of a segment, where the segment is a label and not a sentence. */
  const labelOf = (segment: Segment): Label | undefined => {
    const last = labelsOf(segment).at(-1)
    return last === undefined ? undefined : { ...last, strength: last.strength * (segment.text.length > 60 ? 0.6 : 1) }
  }
  return page.candidates
    .filter((candidate) => candidate.kind === kind)
    .flatMap((candidate) => {
      const { segment } = candidate
      const line = page.lines[segment.line]!
      const at = line.indexOf(segment)
      /** Labels that reach the value, the nearest place first: the first place that has one decides. */
      const reached: Array<{
        readonly label: Label
        readonly from: Segment
        readonly place: Place
        readonly weight: number
      }> = []
      const same = labelsOf(segment).findLast(({ to }) => to <= candidate.from)
      if (same !== undefined) {
        const between = segment.text.slice(same.to, candidate.from)
        const far = between.length > 24 ? 0.6 : /\d[\d.,/]{2,}/.test(between) ? 0.75 : 1
        reached.push({ label: same, from: segment, place: "same", weight: far })
      }
      let skipped = 0
      const leftmost = same === undefined ? Math.max(0, at - 4) : at
      for (let left = at - 1; left >= leftmost; left--) {
        const other = line[left]!
        const label = labelOf(other)
        if (label !== undefined) {
          reached.push({ label, from: other, place: "left", weight: 0.97 - 0.12 * skipped })
          break
        }
        if (valued.has(other)) skipped += 1
      }
      for (let up = 1; up <= LINES_ABOVE; up++) {
        const above = page.lines[segment.line - up]
        if (above === undefined || above[0]?.page !== segment.page) break
        if (segment.y - above[0].y > (up + 1) * 2.6 * segment.height) break
        const header = above.find((other) => aligned(other, segment))
        if (header === undefined) continue
        const label = labelOf(header)
        // A label with a value of its own to its right is no heading.
        const own =
          above.some(
            (other) =>
              other.x > header.x && valued.has(other) && other.x - header.right < 4 * header.right - 4 * header.x
          ) || valued.has(header)
        if (label !== undefined && !own) {
          reached.push({ label, from: header, place: up === 1 ? "above" : "column", weight: 0.9 - 0.12 * (up - 1) })
          break
        }
      }
      const best = new Map<string, Scored>()
      reached.forEach(({ from, label, place, weight }, order) => {
        // Where a nearer label names something else, a farther one counts less.
        const doubt = order > 0 && reached[0]!.label.field !== label.field && reached[0]!.label.strength > 50 ? 0.75 : 1
        if (label.field === null) return
        const score = label.strength * weight * doubt
        const known = best.get(label.field)
        if (known === undefined || known.score < score) {
          const text = from.text.slice(label.from, label.to)
          best.set(label.field, { candidate, score, place, label: text })
        }
      })
      return [...best].map(([field, scored]) => ({ field, scored }))
    })
}

const aligned = (header: Segment, value: Segment): boolean => {
  const overlap = Math.min(header.right, value.right) - Math.max(header.x, value.x)
  return overlap > 0.3 * Math.min(header.right - header.x, value.right - value.x)
}
