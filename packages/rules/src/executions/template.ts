/** Templates of workflow steps: JSON in which `{{inputs.order.id}}` stands for a value. Pure. */
import { canonicalBytes, portableCrypto } from "@flyball/evidence"
import type { Json, JsonMap } from "../records/record.ts"

/** The values that placeholders read: the inputs, and the outputs of steps that are over. */
export interface TemplateValues {
  readonly inputs: JsonMap
  readonly steps: { readonly [id: string]: { readonly output: Json } }
}

const placeholder = /\{\{\s*([A-Za-z0-9_.-]{1,200})\s*\}\}/g
const alone = /^\{\{\s*([A-Za-z0-9_.-]{1,200})\s*\}\}$/

/** Characters of JSON that filling may put in: templates repeat what they name. */
const MAX_FILLED = 262_144

/** More came of a template than {@link MAX_FILLED}. Never seen outside of this file. */
class TooLarge extends Error {}

/**
 * Fills the texts of a template. One that is a placeholder alone becomes the value, whatever its type; within a longer
 * text a value stands as text, or as JSON. What is not there is null.
 *
 * - Answers its sealed form too; null where it would be larger than 262,144 characters, or nests too deep for one.
 */
export const fillTemplate = (
  template: JsonMap,
  values: TemplateValues
): { readonly value: JsonMap; readonly sealed: SealedForm } | null => {
  const room = { left: MAX_FILLED }
  try {
    const value = filled(template, values, room) as JsonMap
    const sealed = sealedForm(value)
    return sealed === null ? null : { value, sealed }
  } catch (error) {
    if (error instanceof TooLarge) return null
    throw error
  }
}

const filled = (template: Json, values: TemplateValues, room: { left: number }): Json => {
  if (typeof template === "string") {
    const [, path] = alone.exec(template) ?? []
    if (path !== undefined) return taken(valueAt(values, path), room).value
    return template.replace(placeholder, (_, inner: string) => {
      const { text, value } = taken(valueAt(values, inner), room)
      return typeof value === "string" ? value : text
    })
  }
  if (Array.isArray(template)) return template.map((item: Json) => filled(item, values, room))
  if (typeof template !== "object" || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, filled(value, values, room)]))
}

const taken = (value: Json, room: { left: number }): { readonly value: Json; readonly text: string } => {
  const text = JSON.stringify(value)
  room.left -= text.length
  if (room.left < 0) throw new TooLarge()
  return { value, text }
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

/** A value as the part of a record: its bytes, and their digest in hex. */
export interface SealedForm {
  readonly bytes: Uint8Array
  readonly digest: string
}

/** Makes the form in which a value is a part. Null where it has no exact form, or nests deeper than `maxDepth`. */
export const sealedForm = (value: unknown, maxDepth?: number): SealedForm | null => {
  try {
    const bytes = canonicalBytes(value, maxDepth)
    return { bytes, digest: portableCrypto.sha256Hex(bytes) }
  } catch {
    return null
  }
}
