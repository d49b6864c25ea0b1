/**
 * Reads the YAML that postel's vectors are written in, and no more of YAML than that: maps and lists by indentation or in brackets, quoted and plain scalars, folded and literal texts, whole lines of comment.
 *
 * What it does not know it throws at: a vector that is read wrongly would be a test that says nothing.
 */

/** A value. Plain scalars are texts, whole numbers, true and false. */
export type Yaml = string | number | boolean | ReadonlyArray<Yaml> | { readonly [name: string]: Yaml }

interface Line {
  readonly indent: number
  readonly text: string
}

/** Reads one document. Throws at what it does not know. */
export const readYaml = (source: string): Yaml => {
  const lines = source.split("\n").map((line): Line => ({ indent: line.length - line.trimStart().length, text: line.trim() }))
  const reader = new Reader(lines)
  const value = reader.block(0)
  if (!reader.isDone) throw new Error(`line ${reader.at + 1} is not understood: ${lines[reader.at]?.text}`)
  return value
}

class Reader {
  readonly #lines: ReadonlyArray<Line>
  at = 0

  constructor(lines: ReadonlyArray<Line>) {
    this.#lines = lines
  }

  get isDone(): boolean {
    return this.#next() === null
  }

  /** The next line that says something; null at the end. */
  #next(): Line | null {
    while (this.at < this.#lines.length && (this.#lines[this.at]!.text === "" || this.#lines[this.at]!.text.startsWith("#"))) this.at++
    return this.#lines[this.at] ?? null
  }

  /** A map or a list whose lines are indented by so much. */
  block(indent: number): Yaml {
    return this.#next()?.text.startsWith("- ") === true ? this.#list(indent) : this.#map(indent, null)
  }

  #list(indent: number): Yaml {
    const items: Array<Yaml> = []
    for (let line = this.#next(); line !== null && line.indent === indent && line.text.startsWith("- "); line = this.#next()) {
      const rest = line.text.slice(2)
      if (/^[\w-]+:( |$)/.test(rest)) items.push(this.#map(indent + 2, rest))
      else {
        this.at++
        items.push(inline(rest))
      }
    }
    return items
  }

  /** `first` is the map's first line where it stands behind a dash. */
  #map(indent: number, first: string | null): Yaml {
    const members: { [name: string]: Yaml } = {}
    for (let text = first ?? this.#memberAt(indent); text !== null; text = this.#memberAt(indent)) {
      const match = /^([\w-]+):(?: +(.*))?$/.exec(text)
      if (match === null) throw new Error(`line ${this.at + 1} is no member: ${text}`)
      this.at++
      members[match[1]!] = this.#value(match[2] ?? "", indent)
    }
    return members
  }

  #memberAt(indent: number): string | null {
    const line = this.#next()
    return line !== null && line.indent === indent && !line.text.startsWith("- ") ? line.text : null
  }

  #value(text: string, indent: number): Yaml {
    if (/^[|>]-?$/.test(text)) return this.#text(indent)
    if (text !== "") return inline(text)
    const below = this.#next()
    if (below === null || below.indent < indent || (below.indent === indent && !below.text.startsWith("- "))) throw new Error(`line ${this.at} has no value`)
    return this.block(below.indent)
  }

  /** A text over several lines. Only descriptions are, so how its lines are joined does not matter. */
  #text(indent: number): string {
    const words: Array<string> = []
    for (; this.at < this.#lines.length && (this.#lines[this.at]!.text === "" || this.#lines[this.at]!.indent > indent); this.at++) words.push(this.#lines[this.at]!.text)
    return words.join(" ").trim()
  }
}

/** A value on one line. */
const inline = (text: string): Yaml => {
  const [value, rest] = flow(text)
  if (rest.trim() !== "") throw new Error(`something stands behind a value: ${text}`)
  return value
}

/** A value, and what stands behind it. */
const flow = (text: string): readonly [Yaml, string] => {
  const quoted = /^"([^"\\]*)"/.exec(text)
  if (quoted !== null) return [quoted[1]!, text.slice(quoted[0].length)]
  if (text.startsWith("[")) return inBrackets(text.slice(1).trimStart(), "]", flow, (items) => items)
  if (text.startsWith("{")) return inBrackets(text.slice(1).trimStart(), "}", flowMember, (members) => Object.fromEntries(members))
  return [plain(text), ""]
}

const flowMember = (text: string): readonly [readonly [string, Yaml], string] => {
  const name = /^"?([\w-]+)"?: +/.exec(text)
  if (name === null) throw new Error(`this is no member: ${text}`)
  const value = text.slice(name[0].length)
  const scalar = /^[^"[{][^,\]}]*/.exec(value)
  const [read, rest] = scalar === null ? flow(value) : [plain(scalar[0].trim()), value.slice(scalar[0].length)] as const
  return [[name[1]!, read], rest]
}

const inBrackets = <A>(text: string, end: string, one: (text: string) => readonly [A, string], made: (all: ReadonlyArray<A>) => Yaml): readonly [Yaml, string] => {
  const all: Array<A> = []
  for (let rest = text; ;) {
    if (rest.startsWith(end)) return [made(all), rest.slice(1)]
    // Plain items of a list end at a comma or a bracket.
    const scalar = end === "]" ? /^[^"[{][^,\]}]*/.exec(rest) : null
    const [item, behind] = scalar === null ? one(rest) : [plain(scalar[0].trim()) as A, rest.slice(scalar[0].length)] as const
    all.push(item)
    rest = behind.trimStart()
    if (rest.startsWith(",")) rest = rest.slice(1).trimStart()
    else if (!rest.startsWith(end)) throw new Error(`a comma or ${end} is expected before: ${rest}`)
  }
}

const plain = (text: string): Yaml => /^\d+$/.test(text) ? Number(text) : text === "true" ? true : text === "false" ? false : text
