/** The form `domain@1`. Spec: `envelope/1` section 16. */
import { isALabel } from "./a-label.ts"
import { hasOnly } from "./letters.ts"
import { MAX_TEXT } from "../limits.ts"
import { urlSigns } from "./scheme.ts"

const URL_PARTS = /^(?:https?|wss?|ftp):\/\/([^/?#@:]*)(:[^/?#@]*)?(?![^/?#])/i
const LOCAL = /^(?=.{1,64}$)[A-Za-z0-9_+='-]+(?:\.[A-Za-z0-9_+='-]+)*$/
const PORT = /^:[1-9][0-9]{0,4}$/
const MAX_PORT = 65_535
const MAX_HOST = 253
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/
const ADDRESS = /^(?:(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])(?:\.(?!$)|$)){4}$/

/** Reads the host of a URL or of one e-mail address, or a host; null where common programs read it differently. */
export const readDomain = (text: string): string | null => {
  if (text.length > MAX_TEXT || text.startsWith("-") || !hasOnly(text, urlSigns)) return null
  if (text.includes("://")) return hostOfUrl(text)
  const at = text.indexOf("@")
  if (at === -1) return hostOf(text)
  const host = LOCAL.test(text.slice(0, at)) ? hostOf(text.slice(at + 1)) : null
  return host === null || isAddress(host) ? null : host
}

/** True for a host that is an IPv4 address: it is under nothing. */
export const isAddress = (host: string): boolean => ADDRESS.test(host)

const hostOfUrl = (text: string): string | null => {
  const parts = URL_PARTS.exec(text)
  if (parts === null) return null
  const [authority, host, port] = parts
  if (port !== undefined && (!PORT.test(port) || Number(port.slice(1)) > MAX_PORT)) return null
  const rest = text.slice(authority.length)
  if ((rest.startsWith("?") || rest.startsWith("#")) && rest.includes("@")) return null
  const separator = rest.search(/[,;|]/)
  return separator !== -1 && rest.includes("://", separator) ? null : hostOf(host!)
}

const hostOf = (text: string): string | null => {
  if (!/^[A-Za-z0-9.-]+$/.test(text)) return null
  const host = (text.endsWith(".") ? text.slice(0, -1) : text).toLowerCase()
  if (host.length > MAX_HOST) return null
  const labels = host.split(".")
  if (NUMBER.test(labels.at(-1)!)) return isAddress(text) ? text : null
  return labels.every((label) => LABEL.test(label) && (!label.startsWith("xn--") || isALabel(label))) ? host : null
}
