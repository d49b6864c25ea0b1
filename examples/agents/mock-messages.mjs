/** A model on a loopback port that speaks the Messages API: it asks for its calls once, and then says a sentence. */
import { createServer } from "node:http"

/** Opens it. `read` is given what each call answered. */
export const openMockMessages = async (calls, sentence, read) => {
  let turns = 0
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const piece of request) body += piece
    if (request.method !== "POST" || !request.url.startsWith("/v1/messages?")) return response.writeHead(404).end("{}")
    const { messages, model } = JSON.parse(body)
    const results = messages.flatMap(({ content }) =>
      Array.isArray(content) ? content.filter(({ type }) => type === "tool_result") : []
    )
    for (const { content } of results) read(typeof content === "string" ? content : content[0].text)
    const id = `${++turns}`
    const blocks =
      results.length > 0
        ? [{ type: "text", text: sentence }]
        : calls.map(([name, input], index) => ({ type: "tool_use", id: `toolu_${id}_${index}`, name, input }))
    const stop_reason = results.length > 0 ? "end_turn" : "tool_use"
    const usage = { input_tokens: 120, output_tokens: 30 }
    response.writeHead(200, { "content-type": "text/event-stream" })
    const send = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
    const message = {
      id: `msg_${id}`,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      usage
    }
    send("message_start", { message })
    for (const [index, block] of blocks.entries()) {
      const isText = block.type === "text"
      send("content_block_start", { index, content_block: isText ? { ...block, text: "" } : { ...block, input: {} } })
      const delta = isText
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) }
      send("content_block_delta", { index, delta })
      send("content_block_stop", { index })
    }
    send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage })
    send("message_stop", {})
    response.end()
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
