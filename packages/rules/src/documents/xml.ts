/** A reader of XML for invoices: elements, attributes and text. It knows no entities of a document and is bounded. */

/** An element. Names are without their prefix. */
export interface XmlElement {
  readonly name: string
  readonly attributes: { readonly [name: string]: string }
  readonly children: ReadonlyArray<XmlElement>
  readonly text: string
}

const MAX_DEPTH = 64
const MAX_ELEMENTS = 200_000
// Not written as it begins in a page: the joined verifier stands in a page.
const token = new RegExp(
  [
    String.raw`<[!]--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>|<\?[^]*?\?>`,
    String.raw`<(\/?)(?:[\w.-]+:)?([\w.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>`,
    "([^<]+)|<"
  ].join("|"),
  "g"
)
const named: { readonly [name: string]: string } = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{2,4}));/g, (all, decimal, hex, name) => {
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10)
    return named[name] ?? (code > 0 && code < 0x110000 ? String.fromCodePoint(code) : all)
  })

interface Open {
  name: string
  attributes: { readonly [name: string]: string }
  children: Array<XmlElement>
  text: string
}

/** The root element; null for a text that is not XML, that has a document type, or that is too large. */
export const readXml = (source: string): XmlElement | null => {
  if (/<!DOCTYPE/i.test(source)) return null
  const root: Open = { name: "", attributes: {}, children: [], text: "" }
  const open = [root]
  let elements = 0
  for (const [all, data, close, name, attributes, empty, text] of source.matchAll(token)) {
    const last = open.at(-1)!
    if (text !== undefined) last.text += unescaped(text)
    else if (data !== undefined) last.text += data
    else if (name === undefined) {
      if (all === "<") return null
    } else if (close === "/") {
      if (open.length < 2 || last.name !== name) return null
      open.pop()
    } else {
      elements += 1
      const pairs = [...attributes!.matchAll(/(?:[\w.-]+:)?([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)]
      const element: Open = {
        name,
        attributes: Object.fromEntries(
          pairs.map(([, key, double, single]) => [key, unescaped(double ?? single ?? "")])
        ),
        children: [],
        text: ""
      }
      last.children.push(element)
      if (empty !== "/") open.push(element)
      if (open.length > MAX_DEPTH || elements > MAX_ELEMENTS) return null
    }
  }
  return open.length === 1 && root.children.length === 1 ? root.children[0]! : null
}

/** The first element on a path of names, searched at any depth for each step. `a|b`: either name. */
export const find = (from: XmlElement, path: string): XmlElement | null =>
  path.split("/").reduce<XmlElement | null>((at, step) => (at === null ? null : descendant(at, step.split("|"))), from)

const descendant = (from: XmlElement, names: ReadonlyArray<string>): XmlElement | null => {
  const direct = from.children.find(({ name }) => names.includes(name))
  if (direct !== undefined) return direct
  for (const child of from.children) {
    const found = descendant(child, names)
    if (found !== null) return found
  }
  return null
}

/** Every element of a name below another. */
export const findAll = (from: XmlElement, wanted: string): ReadonlyArray<XmlElement> =>
  from.children.flatMap((child) => [...(child.name === wanted ? [child] : []), ...findAll(child, wanted)])
