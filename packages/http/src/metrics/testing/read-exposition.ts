/** Reads the text format of Prometheus, strictly: an error where a scraper would only be lenient. */

/** A line: its labels as they were written, and its value. */
export interface Read {
  readonly name: string
  readonly labels: { readonly [name: string]: string }
  readonly value: number
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
const LINE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? ([0-9.e+-]+|\\+Inf|NaN)$`)
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y

const labelsOf = (text: string): { readonly [name: string]: string } => {
  const labels: { [name: string]: string } = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text)
    if (match === null || Object.hasOwn(labels, match[1]!)) throw new Error(`labels that cannot be read: ${text}`)
    labels[match[1]!] = match[2]!
  }
  return labels
}

const baseOf = (name: string, type: string): string =>
  type === "histogram" ? name.replace(/_(bucket|sum|count)$/, "") : name

/** All lines, by the name of their family. */
export const readExposition = (
  text: string
): ReadonlyMap<string, { readonly type: string; readonly lines: ReadonlyArray<Read> }> => {
  if (!text.endsWith("\n")) throw new Error("the last line has no end")
  const families = new Map<string, { readonly type: string; readonly lines: Array<Read> }>()
  const seen = new Set<string>()
  let help = ""
  let current = ""
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line)
    if (comment?.[1] === "HELP") help = comment[2]!
    else if (comment !== null) {
      current = comment[2]!
      if (help !== current || families.has(current) || !["counter", "gauge", "histogram"].includes(comment[3]!))
        throw new Error(`out of order: ${line}`)
      families.set(current, { type: comment[3]!, lines: [] })
    } else {
      const [, name, labels, value] = LINE.exec(line) ?? []
      const family = families.get(current)
      if (
        name === undefined ||
        family === undefined ||
        baseOf(name, family.type) !== current ||
        seen.has(`${name}{${labels ?? ""}}`)
      )
        throw new Error(`not a line of ${current}: ${line}`)
      seen.add(`${name}{${labels ?? ""}}`)
      family.lines.push({ name, labels: labelsOf(labels ?? ""), value: value === "+Inf" ? Infinity : Number(value) })
    }
  }
  return families
}
