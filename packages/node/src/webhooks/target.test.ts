import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { NOTHING_ALLOWED, parseAllowList } from "./egress.ts"
import { isUsualPort, readTarget, type UrlRules } from "./target.ts"

const closed: UrlRules = { allow: NOTHING_ALLOWED, allowHttp: false, ports: null }
const http: UrlRules = { ...closed, allowHttp: true }

describe("a webhook's URL", () => {
  test("is read into where it goes", () => {
    expect(readTarget("https://Hooks.Example.com:8443/a/b?c=%20d", closed)).toEqual({
      isTls: true,
      host: "hooks.example.com",
      isAddress: false,
      port: 8443,
      path: "/a/b?c=%20d"
    })
    expect(readTarget("http://xn--bcher-kva.example", http)).toEqual({
      isTls: false,
      host: "xn--bcher-kva.example",
      isAddress: false,
      port: 80,
      path: "/"
    })
    expect(readTarget("https://[2606:4700::1111]:443/", closed)).toEqual({
      isTls: true,
      host: "2606:4700::1111",
      isAddress: true,
      port: 443,
      path: "/"
    })
    expect(readTarget(`https://example.com/${"a".repeat(2_028)}`, closed)).toMatchObject({ host: "example.com" })
  })

  const refused: ReadonlyArray<readonly [string, RegExp]> = [
    ["http://example.com/", /plain http.*FLYBALL_EGRESS_HTTP=1/],
    ["ftp://example.com/", /begins with https/],
    ["//example.com/", /begins with https/],
    ["https:example.com", /begins with https/],
    ["https:\\\\example.com\\", /backslash/],
    ["https://example.com\\@127.0.0.1/", /backslash/],
    ["", /printable ASCII/],
    [" https://example.com/", /printable ASCII/],
    ["https://exa\tmple.com/", /printable ASCII/],
    ["https://example.com/\r\nX: y", /printable ASCII/],
    ["https://bücher.example/", /xn--/],
    ["https://user:secret@example.com/", /user and password/],
    ["https://@example.com/", /user and password/],
    ["https://example.com/#", /behind #/],
    ["https:///hook", /no URL that can be read|name of letters|unusual/],
    ["https://example.com:/", /malformed/],
    ["https://example.com:0443x/", /malformed/],
    ["https://example.com:99999/", /malformed/],
    ["https://example.com:22/", /port 22 /],
    ["https://example.com:80/", /port 80 /],
    ["https://example.com:6000/", /port 6000 /],
    ["https://example.com:0/", /port 0 /],
    ["https://example.com./", /dot at its end/],
    ["https://example%2ecom/", /unusual way/],
    ["https://exa*mple.com/", /letters, digits/],
    ["https://a..example.com/", /letters, digits/],
    [`https://${"a".repeat(64)}.example.com/`, /letters, digits/],
    ["https://134744072/", /Write 8\.8\.8\.8/],
    ["https://8.8.2056/", /Write 8\.8\.8\.8/],
    ["https://8.8.8.8./", /Write 8\.8\.8\.8/],
    ["https://localhost:8443/", /loopback.*FLYBALL_EGRESS_ALLOW/],
    ["https://10.0.0.1/", /private.*FLYBALL_EGRESS_ALLOW/],
    ["https://169.254.169.254/", /metadata.*FLYBALL_EGRESS_ALLOW/],
    ["https://LOCALHOST/", /loopback/],
    ["https://x.localhost/", /loopback/],
    [`https://example.com/${"a".repeat(2_029)}`, /2048 characters/]
  ]
  test.each(refused)("%j is refused", (url, why) => {
    const found = readTarget(url, closed)
    expect(found).toMatch(why)
    // A URL may hold a secret in its path or its user part.
    expect(found).not.toMatch(/secret|aaaa/)
  })

  test("may name this host where that is allowed", () => {
    const allow = parseAllowList(["127.0.0.0/8"])
    if (typeof allow === "string") throw new Error(allow)
    expect(readTarget("http://localhost:3000/", { ...http, allow })).toMatchObject({ host: "localhost", port: 3000 })
    expect(readTarget("http://127.0.0.1:3000/", { ...http, allow })).toMatchObject({
      host: "127.0.0.1",
      isAddress: true
    })
    expect(readTarget("http://127.1:3000/", { ...http, allow })).toMatch(/Write 127\.0\.0\.1/)
  })

  test("has the ports of the setting, where there is one", () => {
    const ports = new Set([25, 443])
    expect(readTarget("https://example.com:25/", { ...closed, ports })).toMatchObject({ port: 25 })
    expect(readTarget("https://example.com:8443/", { ...closed, ports })).toMatch(/port 8443/)
    expect([443, 80, 1023, 1024, 8443, 65_535, 6667, 25].map((port) => isUsualPort(port, true))).toEqual([
      true,
      false,
      false,
      true,
      true,
      true,
      false,
      false
    ])
    expect([443, 80, 8080].map((port) => isUsualPort(port, false))).toEqual([false, true, true])
  })

  test.each(["https-only-rejected", "ssrf-link-local-refused", "ssrf-private-ip-create-blocked"])(
    "postel's vector %s",
    (name) => {
      const file = new URL(
        `../../../../fixtures/vectors/webhooks/postel/vectors/sender/ssrf-tls/${name}.json`,
        import.meta.url
      )
      const { expected, triggers } = JSON.parse(readFileSync(file, "utf8")) as {
        readonly expected: { readonly outcome: string }
        readonly triggers: ReadonlyArray<{ readonly endpoint: { readonly url: string; readonly allowHttp?: boolean } }>
      }
      expect(expected.outcome).toBe("reject")
      const { allowHttp, url } = triggers[0]!.endpoint
      expect(typeof readTarget(url, allowHttp === true ? http : closed)).toBe("string")
    }
  )
})
