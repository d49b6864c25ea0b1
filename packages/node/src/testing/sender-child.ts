/**
 * A process that sends once by the sender and once as any program does, and prints both answers: `node sender-child.ts
 * <url>`. Its name resolves to loopback.
 */
import { get } from "node:http"
import { pinnedSender } from "../webhooks/pinned-sender.ts"

const url = process.argv[2]!
const sender = pinnedSender({
  allowHttp: true,
  egressAllow: ["127.0.0.1"],
  resolve: () => Promise.resolve(["127.0.0.1"])
})
const { responseExcerpt } = await sender.send({ url, headers: {}, body: new Uint8Array() })
sender.close()
get(url, (answer) =>
  answer
    .setEncoding("utf8")
    .on("data", (usual: string) => console.log(JSON.stringify({ sent: responseExcerpt, usual })))
)
