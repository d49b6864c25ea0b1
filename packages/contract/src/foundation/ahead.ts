/**
 * Times of a body that must lie ahead. A shape has no clock, so they are checked where there is one. Spec: api.md
 * "Small things decided".
 */
import { Schema } from "effect"
import { type DetailItem, detailItem } from "./detail.ts"
import { parseRfc3339 } from "./rfc3339.ts"

/** Marks a member of a body as a time that must lie ahead. */
export const ahead = <S extends Schema.Top>(schema: S): S["Rebuild"] => schema.annotateKey({ ahead: true })

/**
 * Finds the times of a body that must lie ahead of `nowMs` and do not. What is no time is a problem of the shape.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 */
export type PastTimes = (value: unknown, nowMs: number) => ReadonlyArray<DetailItem>

/** Makes the check of one shape. */
export const pastTimes = (schema: Schema.Top): PastTimes => {
  const { fields = {} } = schema as { readonly fields?: Schema.Struct.Fields }
  const names = Object.keys(fields).filter((name) => Schema.resolveAnnotationsKey(fields[name]!)?.["ahead"] === true)
  return (value, nowMs) =>
    names.flatMap((name) => {
      const sent = (value as { readonly [name: string]: unknown } | null | undefined)?.[name]
      const read = typeof sent === "string" ? parseRfc3339(sent) : null
      return read !== null && Date.parse(read) <= nowMs
        ? [detailItem(["body", name], "value_error", `Expected a time after ${new Date(nowMs).toISOString()}`, sent)]
        : []
    })
}
