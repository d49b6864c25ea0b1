/** Drafts the envelope and the configuration of an agent that works in a browser. Pure. Spec: decision 0083. */
import type { DocumentAgent, DocumentAgentCreate } from "@flyball/contract"

/** The tool server of the configuration. Another version may have other tools, which the envelope denies. */
const SERVER = "@playwright/mcp@0.0.83"

/** Tools that show what is there. */
const reading = ["browser_snapshot", "browser_take_screenshot", "browser_wait_for", "browser_navigate_back"]
/** Tools that may send a form, or begin a download. */
const acting = [
  "browser_click",
  "browser_drag",
  "browser_fill_form",
  "browser_handle_dialog",
  "browser_hover",
  "browser_press_key",
  "browser_select_option",
  "browser_type"
]

/**
 * The draft: pages of the allowed domains are opened and read, what may send a form waits for a person, and everything
 * else is denied: files, scripts, new tabs. A person may edit it before it is published.
 */
export const browserEnvelope = (domains: ReadonlyArray<string>) => ({
  semantics: "envelope/1",
  signals: {
    tool: {
      type: "enum",
      values: ["browser_close", "browser_navigate", ...reading, ...acting].sort(),
      source: "caller"
    },
    host: { type: "text", form: "domain@1", source: "args", from: "/url", optional: true },
    scheme: { type: "text", form: "scheme@1", source: "args", from: "/url", optional: true }
  },
  effects: {
    browser_close: "read",
    browser_navigate: "read",
    ...Object.fromEntries(reading.map((tool) => [tool, "read"])),
    ...Object.fromEntries(acting.map((tool) => [tool, "external_message"]))
  },
  rules: [
    ...[...new Set(domains)].map((domain, at) => ({
      id: `open_${at + 1}`,
      outcome: "allow",
      when: [
        { signal: "tool", eq: "browser_navigate" },
        { signal: "scheme", eq: "https" },
        { signal: "host", under: domain }
      ]
    })),
    { id: "read", outcome: "allow", when: [{ signal: "tool", in: ["browser_close", ...reading] }] },
    { id: "act", outcome: "require_review", when: [{ signal: "tool", in: acting }] }
  ],
  default: { outcome: "deny" }
})

/** True for an https address whose host is one of these domains, or below one. */
export const isAllowed = (url: string, domains: ReadonlyArray<string>): boolean => {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  return protocol === "https:" && domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`))
}

/** The configuration for an MCP client: the proxy in front of the browser, both on the caller's machine. */
export const configurationOf = ({ name }: Pick<DocumentAgentCreate, "name">): DocumentAgent["mcp_configuration"] => {
  const proxy = ["-y", "-p", "@flyball/client", "flyball-mcp-proxy", "--agent", name, "--server", "playwright", "--"]
  const env = { FLYBALL_URL: "https://flyball.example", FLYBALL_KEY: "an ingest key" }
  return { mcpServers: { browser: { command: "npx", args: [...proxy, "npx", "-y", SERVER, "--isolated"], env } } }
}
