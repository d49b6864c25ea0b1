/** The adapter of the Claude Agent SDK, with its real program and a model on a loopback port, against a real server. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSdkMcpServer, type Options, query, type SDKMessage, tool } from "@anthropic-ai/claude-agent-sdk"
import { governClaude } from "@flyball/client/claude-agent-sdk"
import { vi } from "vitest"
import * as z from "zod"
import { serveMessages } from "../../../packages/client/src/adapters/claude-agent-sdk/testing/messages-server.ts"
import { type AdapterUnderTest, describeAdapter, type TestCall, type Turn } from "./conformance.ts"

// Each turn starts the program, on a machine that is busy with other tests.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const shape = { amount: z.number().int().optional(), card_number: z.string().optional() }

/** Results of tools in the order of the calls, as the program put them into the conversation. */
const answersIn = (messages: ReadonlyArray<SDKMessage>): ReadonlyArray<string> =>
  messages
    .flatMap((one) => (one.type === "user" && Array.isArray(one.message.content) ? one.message.content : []))
    .flatMap((part) => (part.type === "tool_result" ? [part] : []))
    .sort((a, b) => Number(a.tool_use_id.split("_")[2]) - Number(b.tool_use_id.split("_")[2]))
    .map((part) => JSON.stringify(part.content))

const piecesIn = (messages: ReadonlyArray<SDKMessage>): ReadonlyArray<string> =>
  messages.flatMap((one) =>
    one.type === "stream_event" && one.event.type === "content_block_delta" && one.event.delta.type === "text_delta"
      ? [one.event.delta.text]
      : []
  )

const claude: AdapterUnderTest = {
  name: "claude-agent-sdk",
  isSerial: true,
  open: async ({ agent, holdMs, tools }) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-claude-"))
    const running = new Set<Promise<unknown>>()
    let wanted: ReadonlyArray<TestCall> = []
    const model = await serveMessages(({ messages }) =>
      JSON.stringify(messages).includes('"tool_result"')
        ? "done"
        : wanted.map(({ input, tool: name }) => ({ name: `mcp__shop__${name}`, input }))
    )
    const shop = () =>
      createSdkMcpServer({
        name: "shop",
        alwaysLoad: true,
        tools: tools.map(({ name, run }) =>
          tool(name, name, shape, async (input, extra) => {
            const work = run(input, (extra as { readonly signal?: AbortSignal }).signal)
            running.add(work)
            try {
              return { content: [{ type: "text", text: await work }] }
            } finally {
              running.delete(work)
            }
          })
        )
      })

    const run = async (calls: ReadonlyArray<TestCall>, more: (made: Options) => Options = (made) => made) => {
      wanted = calls
      const nameOf = (name: string): string => name.split("__").at(-1)!
      const governance = governClaude(agent, { holdMs, whenPending: "deny", nameOf })
      const messages: Array<SDKMessage> = []
      const options: Options = {
        ...governance,
        mcpServers: { shop: shop() },
        allowedTools: ["mcp__shop"],
        cwd: folder,
        settingSources: [],
        maxTurns: 4,
        env: {
          PATH: process.env["PATH"],
          HOME: folder,
          CLAUDE_CONFIG_DIR: join(folder, ".config"),
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: "of-a-test",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1"
        }
      }
      let failure: string | null = null
      try {
        for await (const message of query({ prompt: "go", options: more(options) })) messages.push(message)
      } catch (cause) {
        failure = String(cause)
      }
      await Promise.allSettled(running)
      const answers = answersIn(messages)
      // A run that was stopped has answers for the calls that it refused, and its end is no failure of theirs.
      return { messages, turn: { answers, failure: answers.length > 0 ? null : failure } satisfies Turn }
    }

    return {
      turn: async (calls) => (await run(calls)).turn,
      stream: async (calls) => {
        const { messages, turn } = await run(calls, (made) => ({ ...made, includePartialMessages: true }))
        return { ...turn, pieces: piecesIn(messages) }
      },
      close: async () => {
        await model.close()
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
}

describeAdapter(claude)
