/** A model on a loopback port that speaks the Messages API and says what a test wants: no key and no network. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** A tool that the model wants to use. */
export interface ToolUse {
  readonly name: string
  readonly input: { readonly [name: string]: unknown }
}

/** Request to the model: the members that a script reads. */
export interface ModelRequest {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
}

/** Answers a request in place of the model: tools to use, or a text. */
export type Script = (request: ModelRequest) => ReadonlyArray<ToolUse> | string

/** Starts one. */
export const serveMessages = async (script: Script) => {
  let made = 0
  const requests: Array<ModelRequest> = []
  const server = createServer((request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const path = request.url!.split("?")[0]
      if (request.method !== "POST" || path !== "/v1/messages") {
        response.writeHead(404, { "content-type": "application/json" })
        response.end('{"type":"error","error":{"type":"not_found_error","message":"not here"}}')
        return
      }
      const given = JSON.parse(Buffer.concat(pieces).toString()) as ModelRequest & { stream?: boolean; model: string }
      requests.push(given)
      const said = script(given)
      const id = ++made
      const content =
        typeof said === "string"
          ? [{ type: "text", text: said }]
          : said.map(({ input, name }, index) => ({ type: "tool_use", id: `toolu_${id}_${index}`, name, input }))
      const ends = { stop_reason: typeof said === "string" ? "end_turn" : "tool_use", stop_sequence: null }
      const message = {
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        model: given.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 1 }
      }
      if (given.stream !== true) {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(JSON.stringify({ ...message, content, ...ends }))
        return
      }
      response.writeHead(200, { "content-type": "text/event-stream" })
      const send = (type: string, more: object): void =>
        void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
      send("message_start", { message })
      content.forEach((block, index) => {
        const isText = "text" in block
        send("content_block_start", { index, content_block: isText ? { ...block, text: "" } : { ...block, input: {} } })
        const deltas = isText
          ? halves(block.text).map((text) => ({ type: "text_delta", text }))
          : [{ type: "input_json_delta", partial_json: JSON.stringify((block as { input: unknown }).input) }]
        for (const delta of deltas) send("content_block_delta", { index, delta })
        send("content_block_stop", { index })
      })
      send("message_delta", { delta: ends, usage: { output_tokens: 5 } })
      send("message_stop", {})
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}

const halves = (text: string): ReadonlyArray<string> => {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

/** True when a tool has answered anywhere in the conversation. */
export const hasResults = ({ messages }: ModelRequest): boolean => JSON.stringify(messages).includes('"tool_result"')

/**
 * A prompt without a message, which ends with `over`. A session that continues with a deferred call takes that up by
 * itself; a message that arrives meanwhile may interrupt it.
 */
export async function* noPrompt(over: Promise<unknown>): AsyncGenerator<never, void> {
  await over
}
