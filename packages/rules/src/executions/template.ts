/** Templates of workflow steps: JSON in which `{{inputs.order.id}}` stands for a value. Pure. */
import { canonicalBytes, portableCrypto } from "@flyball/evidence"
import type { Json, JsonMap } from "../records/record.ts"

/** What placeholders read: the inputs, and the outputs of steps that are over. */
export interface TemplateValues {
  readonly inputs: JsonMap
  readonly steps: { readonly [id: string]: { readonly output: Json } }
}

const placeholder = /\{\{\s*([A-Za-z0-9_.-]{1,200})\s*\}\}/g
const alone = /^\{\{\s*([A-Za-z0-9_.-]{1,200})\s*\}\}$/

/**
 * Fills the texts of a template. One that is a placeholder alone becomes the value, whatever its type; within a longer
 * text a value stands as text, or as JSON. What is not there is null.
 */
export const fillTemplate = (template: Json, values: TemplateValues): Json => {
  if (typeof template === "string") {
    const [, path] = alone.exec(template) ?? []
    if (path !== undefined) return valueAt(values, path)
    return template.replace(placeholder, (_, inner: string) => {
      const value = valueAt(values, inner)
      return typeof value === "string" ? value : JSON.stringify(value)
    })
  }
  if (Array.isArray(template)) return template.map((item: Json) => fillTemplate(item, values))
  if (typeof template !== "object" || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fillTemplate(value, values)]))
}

const valueAt = (values: TemplateValues, path: string): Json => {
  let at: unknown = values
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return null
    at = (at as { readonly [name: string]: unknown })[name]
  }
  return at as Json
}

/**
 * The first placeholder of a template that nothing can fill: it reads neither the inputs nor the output of a step in
 * `earlier`. Null where all can be.
 */
export const unknownPlaceholder = (template: Json, earlier: ReadonlyArray<string>): string | null => {
  if (typeof template === "string") {
    for (const [, path = ""] of template.matchAll(placeholder)) {
      const [root, step = "", output] = path.split(".")
      if (root !== "inputs" && !(root === "steps" && earlier.includes(step) && output === "output")) return path
    }
    return null
  }
  if (typeof template !== "object" || template === null) return null
  for (const value of Object.values(template)) {
    const found = unknownPlaceholder(value as Json, earlier)
    if (found !== null) return found
  }
  return null
}

/** A value as the part of a record: its bytes, and their digest in hex. Null where it has no exact form. */
export const sealedForm = (value: unknown): { readonly bytes: Uint8Array; readonly digest: string } | null => {
  try {
    const bytes = canonicalBytes(value)
    return { bytes, digest: portableCrypto.sha256Hex(bytes) }
  } catch {
    return null
  }
}
