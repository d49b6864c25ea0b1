/** Which form of an answer a caller wants, where an endpoint has two. */
import { JSON_MEDIA, LINES_MEDIA } from "@flyball/contract/http"

/**
 * True when `Accept`, in lower case, names lines and does not prefer JSON to them. A wildcard names nothing: lines go
 * only to clients that name them.
 *
 * - Spec: api.md, `GET /chain/records`; weights are those of RFC 9110 section 12.5.1.
 */
export const acceptsNdjson = (accept: string): boolean => names(accept, LINES_MEDIA, JSON_MEDIA)

/** True when `Accept`, in lower case, names JSON and does not prefer the media type that an endpoint has by default. */
export const acceptsJson = (accept: string, otherwise: string): boolean => names(accept, JSON_MEDIA, otherwise)

const names = (accept: string, wanted: string, otherwise: string): boolean => {
  if (!accept.includes(wanted)) return false
  const weights = new Map(accept.split(",").map(rangeOf))
  const weight = weights.get(wanted) ?? 0
  return weight > 0 && weight >= (weights.get(otherwise) ?? weights.get("application/*") ?? weights.get("*/*") ?? 0)
}

/** A media range and its weight; 1 where it says none that can be read. */
const rangeOf = (range: string): readonly [string, number] => {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim())
  const weight = parameters
    .map((parameter) => /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameter)?.[1])
    .find((found) => found !== undefined)
  return [type, weight === undefined ? 1 : Number(weight)]
}

/** True when an `If-None-Match` names this ETag, which is in its quotes. */
export const knows = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === etag)
