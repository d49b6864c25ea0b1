/** A tool server on stdio whose result is the JSON text that it is called with, byte for byte. */
import { createInterface } from "node:readline"

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line)
    if (method === "tools/call")
      process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${params.arguments.text}}\n`)
  })
  .on("close", () => process.exit(0))
