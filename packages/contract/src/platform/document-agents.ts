/** Agents that work in a browser, under governance. Spec: document 2 section 8, "create_agent". */
import { Schema } from "effect"
import { id, instant, list, name, oneOf, specifiedPattern, text } from "../foundation/fields.ts"

/** The names of its owner that a domain has: labels and dots, in lower case. */
const domain = specifiedPattern(/^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/)

/** Body of POST /v1/documents/agents. The host of `start_url` is one of `allowed_domains`, or below one. */
export const DocumentAgentCreate = Schema.Struct({
  name: name(200),
  /** An https address. */
  start_url: text(1, 2_048),
  allowed_domains: list(domain, 1, 32),
  /** Its goals. With line breaks between them at most 4,000 characters: they become its purpose. */
  goals: list(text(1, 2_000), 1, 20)
})
/** See {@link DocumentAgentCreate}. */
export type DocumentAgentCreate = typeof DocumentAgentCreate.Type

/**
 * An agent that works in a browser: an agent of the registry at tier L1, a draft of its envelope, and the configuration
 * that its caller runs. `awaiting_runner` until its proxy sent a list of tools.
 */
export const DocumentAgent = Schema.Struct({
  id: id("agent"),
  name: Schema.String,
  envelope_id: id("envelope"),
  status: oneOf(["awaiting_runner", "connected"]),
  /** For an MCP client. Put the address of this service and an ingest key of the agent's org unit in its `env`. */
  mcp_configuration: Schema.Struct({
    mcpServers: Schema.Record(
      Schema.String,
      Schema.Struct({
        command: Schema.String,
        args: Schema.Array(Schema.String),
        env: Schema.Record(Schema.String, Schema.String)
      })
    )
  }),
  created_at: instant
})
/** See {@link DocumentAgent}. */
export type DocumentAgent = typeof DocumentAgent.Type
