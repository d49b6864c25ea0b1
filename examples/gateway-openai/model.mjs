// A model of nobody: it streams a sentence, and then calls the tool that the question names.
import { createServer } from "node:http"

const chunk = (delta, finish_reason = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 0,
  model: "small-1",
  choices: [{ index: 0, delta, finish_reason }]
})
const call = (name) => ({
  tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: '{"order": "W100"}' } }]
})

export const startModel = async () => {
  const server = createServer(async (request, response) => {
    let text = ""
    for await (const piece of request) text += piece
    const tool = JSON.parse(text).messages.at(-1).content
    response.writeHead(200, { "content-type": "text/event-stream" })
    const send = (event) => response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
    send(chunk({ role: "assistant", content: "Let me see. " }))
    if (tool === "wait") return
    send(chunk(call(tool)))
    send(chunk({}, "tool_calls"))
    send({ ...chunk({}), choices: [], usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 } })
    send("[DONE]")
    response.end()
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  return { server, url: `http://127.0.0.1:${server.address().port}/v1` }
}
