/** Whether a caller wants items one a line rather than a JSON array. */
import { LINES_MEDIA } from "@flyball/contract/http"

/**
 * Whether `Accept`, in lower case, names lines and does not prefer JSON to them. A wildcard names nothing: lines go
 * only to clients that name them.
 *
 * - Spec: api.md, `GET /chain/records`; weights are those of RFC 9110 section 12.5.1.
 */
export const acceptsNdjson = (accept: string): boolean => {
  if (!accept.includes(LINES_MEDIA)) return false
  const weights = new Map(accept.split(",").map(rangeOf))
  const lines = weights.get(LINES_MEDIA) ?? 0
  return (
    lines > 0 && lines >= (weights.get("application/json") ?? weights.get("application/*") ?? weights.get("*/*") ?? 0)
  )
}

/** A media range and its weight; 1 where it says none that can be read. */
const rangeOf = (range: string): readonly [string, number] => {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim())
  const weight = parameters
    .map((parameter) => /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameter)?.[1])
    .find((found) => found !== undefined)
  return [type, weight === undefined ? 1 : Number(weight)]
}
