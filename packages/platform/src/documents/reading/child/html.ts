/** Reads HTML: blocks are lines, cells are columns, and styles that hide text are heeded. */
import { type DefaultTreeAdapterMap, parse } from "parse5"
import { type LaidLine, layOut } from "./lay-out.ts"
import type { Writer } from "./writer.ts"

type Node = DefaultTreeAdapterMap["node"]

const MAX_DEPTH = 1_000
const blocks =
  "address article blockquote br caption dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr li main nav " +
  "ol p pre section table tbody thead tr ul"
const block = new Set(blocks.split(" "))
const noText = /^(?:head|noscript|script|style|template|title|iframe|object|svg)$/

const hiddenBy = (style: string): "render_mode" | "small" | "white" | null => {
  const text = style.toLowerCase().replaceAll(/\s/g, "")
  if (/(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0\d*)?(?:;|!|$)|mso-hide:all)/.test(text)) {
    return "render_mode"
  }
  if (/(?:^|;)font(?:-size)?:[01](?:\.\d+)?(?:px|pt|em|;|!|$)/.test(text) && !/font-size:1(?:\.\d+)?em/.test(text)) {
    return "small"
  }
  if (/(?:^|;)(?:left|top|text-indent|margin-left):-\d{3,}/.test(text)) return "render_mode"
  const white = /(?:^|;)color:(?:white|#fff(?:fff)?\b|rgba?\(255,255,255)/.test(text)
  return white && !/background(?:-color)?:(?!white|#fff|transparent|none)/.test(text) ? "white" : null
}

/** Classes, ids and elements that a style sheet hides by a plain selector. */
const hiddenIn = (sheet: string): ReadonlyMap<string, "render_mode" | "small" | "white"> => {
  const found = new Map<string, "render_mode" | "small" | "white">()
  for (const [, selectors, body] of sheet.matchAll(/([^{}]{1,500})\{([^{}]{0,2000})\}/g)) {
    const why = hiddenBy(body!)
    if (why !== null) for (const selector of selectors!.split(",")) found.set(selector.trim().toLowerCase(), why)
  }
  return found
}

/** Lays out a page. Elements are walked with a list and not by recursion: hostile ones nest deep. */
export const readHtml = (text: string, writer: Writer): void => {
  const lines: Array<LaidLine> = []
  let line = ""
  const end = (): void => {
    if (line.trim() !== "") lines.push(line.trimEnd())
    line = ""
  }
  const sheet = [...text.matchAll(/<style[^>]*>([^]{0,200000}?)<\/style/gi)].map(([, body]) => body).join("\n")
  const hiddenNames = hiddenIn(sheet)
  type Step = { readonly node: Node | null; readonly end: string; readonly depth: number; readonly hidden: Hidden }
  type Hidden = "render_mode" | "small" | "white" | null
  const steps: Array<Step> = [{ node: parse(text), end: "", depth: 0, hidden: null }]
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const { depth, hidden, node } = step
    if (node === null) {
      if (step.end === "cell") line += "   "
      else end()
      continue
    }
    if (node.nodeName === "#text" && "value" in node) {
      const value = node.value.replace(/\s+/g, " ")
      if (hidden === null) line += line === "" || line.endsWith(" ") ? value.trimStart() : value
      else lines.push({ text: value, hidden })
    }
    if (!("childNodes" in node)) continue
    const attributes = new Map("attrs" in node ? node.attrs.map(({ name, value }) => [name, value]) : [])
    if (node.nodeName === "script" || [...attributes.keys()].some((name) => name.startsWith("on")))
      writer.warn("script")
    if (noText.test(node.nodeName)) continue
    if (depth > MAX_DEPTH) {
      writer.warn("partly_read")
      continue
    }
    const names = [
      node.nodeName,
      `#${attributes.get("id") ?? ""}`,
      ...(attributes.get("class") ?? "").split(/\s+/).flatMap((name) => [`.${name}`, `${node.nodeName}.${name}`])
    ]
    const bySheet = names.map((name) => hiddenNames.get(name.toLowerCase())).find((why) => why !== undefined)
    const own = attributes.has("hidden") ? "render_mode" : (hiddenBy(attributes.get("style") ?? "") ?? bySheet ?? null)
    const cell = node.nodeName === "td" || node.nodeName === "th"
    if (cell || block.has(node.nodeName)) {
      if (!cell) end()
      steps.push({ node: null, end: cell ? "cell" : "line", depth, hidden })
    }
    for (const child of node.childNodes.toReversed()) {
      steps.push({ node: child, end: "", depth: depth + 1, hidden: own ?? hidden })
    }
  }
  end()
  layOut(lines, writer)
}
