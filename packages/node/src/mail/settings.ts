/** Where letters are handed over: the settings of a mail server. */
import { isOptions } from "@flyball/core/storage"
import { addressProblem } from "./letter.ts"

/** Options of the mail server. */
export interface MailOptions {
  /**
   * `smtp://[user:password@]host[:port]` (587; STARTTLS comes before anything else is sent) or `smtps://…` (465; TLS
   * from the first byte).
   *
   * `?starttls=never` speaks without TLS, for a relay on the same host or in a network that is trusted; a password is
   * then refused.
   */
  readonly url: string
  /** The sender of the letters: `flyball@example.com` or `Flyball <flyball@example.com>`. */
  readonly from: string
  /** Certificates in PEM that are trusted in place of the usual ones. */
  readonly ca?: string
}

/** The settings, read. */
export interface MailServer {
  readonly host: string
  readonly port: number
  readonly tls: "at_once" | "starttls" | "never"
  readonly login: { readonly user: string; readonly password: string } | null
  readonly from: { readonly name: string | null; readonly address: string }
  readonly ca: string | undefined
}

/**
 * Reads the settings.
 *
 * - Fails: a sentence that holds no password.
 */
export const readMailOptions = (options: MailOptions): MailServer | string => {
  // None of them is shown: a password may be anywhere in them.
  if (!isOptions(options)) return "the settings of a mail server are an object with url and from"
  const invalid = (
    [
      ["url", options.url],
      ["from", options.from],
      ["ca", options.ca ?? ""]
    ] as const
  ).find(([, value]) => typeof value !== "string")
  if (invalid !== undefined) return `${invalid[0]} is expected to be a string, and something else is there`
  const url = /^[\x21-\x7e]{1,2048}$/.test(options.url) ? URL.parse(options.url) : null
  if (url === null || (url.protocol !== "smtp:" && url.protocol !== "smtps:") || url.hostname === "")
    return "a mail server is named as smtp://user:password@host:port or smtps://user:password@host:port"
  if ((url.pathname !== "" && url.pathname !== "/") || url.hash !== "")
    return (
      "behind the port of a mail server only ?starttls=never may stand. Write / ? # @ and : in a password " +
      "percent-encoded"
    )
  const isTls = url.protocol === "smtps:"
  if (url.search !== "" && (isTls || url.search !== "?starttls=never"))
    return "the only thing to be said behind a mail server's name is ?starttls=never, and only with smtp://"
  const tls = isTls ? "at_once" : url.search === "" ? "starttls" : "never"
  const login = readLogin(url)
  if (typeof login === "string") return login
  if (login !== null && tls === "never")
    return "a password is not sent without TLS. Leave user and password out, or take starttls=never out"
  const from = readFrom(options.from)
  if (typeof from === "string") return from
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase(),
    port: Number(url.port || (isTls ? 465 : 587)),
    tls,
    login,
    from,
    ca: options.ca
  }
}

const readLogin = (url: URL): MailServer["login"] | string => {
  if (url.username === "" && url.password === "") return null
  try {
    const user = decodeURIComponent(url.username)
    const password = decodeURIComponent(url.password)
    // NUL parts the two in what is sent.
    return user === "" || password === "" || /\0/.test(user + password)
      ? "a mail server's user and password are both there or both left out"
      : { user, password }
  } catch {
    return (
      "a mail server's user and password are percent-encoded, and a percent sign here is not followed by " +
      "two hexadecimal digits. Write % as %25"
    )
  }
}

const readFrom = (text: string): MailServer["from"] | string => {
  const named = /^([^<>\p{Cc}]{1,100}?) ?<([^<>]*)>$/u.exec(text)
  const name = named === null ? null : named[1]!.trim().replace(/^"([^"\\]*)"$/, "$1")
  const address = named === null ? text : named[2]!
  return addressProblem(address) === null
    ? { name: name === "" ? null : name, address }
    : "letters are from an address such as flyball@example.com or Flyball <flyball@example.com>"
}
