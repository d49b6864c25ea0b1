/** Messages of a client that two parsers could read in two ways, or that are none. The tool `refund` is denied. */

/** A message, and what becomes of it. */
export interface HostileMessage {
  readonly name: string
  readonly bytes: Uint8Array
  /** The line that the server gets; null: nothing. */
  readonly sent: string | null
  /** The code of the error that the client gets; `denied`: the result of a denied call; null: the server answers. */
  readonly answer: number | "denied" | null
}

let made = 0

/** A message whose text has `ID` where its own id belongs. */
const message = (
  name: string,
  text: string | Uint8Array,
  answer: HostileMessage["answer"],
  sent: string | null = null
): HostileMessage => {
  const id = String(++made)
  const own = (one: string): string => one.replaceAll("ID", id)
  return {
    name,
    bytes: typeof text === "string" ? Buffer.from(own(text)) : text,
    sent: sent === null ? null : own(sent),
    answer
  }
}

const REFUND = '"params":{"name":"refund","arguments":{}}'
const call = (method: string): string => `{"jsonrpc":"2.0","id":ID,"method":"${method}",${REFUND}}`
const ping = '{"jsonrpc":"2.0","id":ID,"method":"ping"}'

/** All of them. */
export const hostileMessages: ReadonlyArray<HostileMessage> = [
  message("a batch", `[${call("tools/call")}]`, -32_600),
  message("an empty batch", "[]", -32_600),
  message("a text", '"tools/call"', -32_600),
  message("two messages", `${ping}${call("tools/call")}`, -32_700),
  message("two messages with a carriage return between them", `${ping}\r${call("tools/call")}`, -32_700),
  message("a byte order mark", `\ufeff${call("tools/call")}`, "denied"),
  message("two byte order marks", `\ufeff\ufeff${call("tools/call")}`, -32_700),
  message("a comment", `/* ${ping} */ ${call("tools/call")}`, -32_700),
  message("a text that is no UTF-8", Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', "latin1"), -32_700),
  message("blanks and a carriage return around it", `\t ${ping} \r`, null, ping),
  message("two methods, the last a call", `{"method":"ping",${call("tools/call").slice(1)}`, "denied"),
  message(
    "two methods, the first a call",
    `{"jsonrpc":"2.0","id":ID,"method":"tools/call","method":"prompts/get",${REFUND}}`,
    null,
    `{"jsonrpc":"2.0","id":ID,"method":"prompts/get",${REFUND}}`
  ),
  message(
    "two names, the last denied",
    '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"lookup","name":"refund"}}',
    "denied"
  ),
  message(
    "two names, the last allowed",
    '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"refund","name":"lookup"}}',
    null,
    '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"lookup"}}'
  ),
  message("two ids", `{"id":99,${call("tools/call").slice(1)}`, "denied"),
  message("escapes in the method", call("tools\\u002fcall"), "denied"),
  message("escapes in the member's name", call("tools/call").replace("method", "m\\u0065thod"), "denied"),
  message("members in another case", `{"Method":"tools/call",${ping.slice(1)}`, null, ping),
  message("a method in another case", call("Tools/Call"), -32_600),
  message("a method with a blank", call("tools/call "), -32_600),
  message("a method with another slash", call("tools\u2215call"), -32_600),
  message("a method in wide letters", call("\uff54ools/call"), -32_600),
  message("a method with a zero", call("tools/call\\u0000"), -32_600),
  message(
    "half a character",
    '{"jsonrpc":"2.0","id":ID,"method":"ping","params":{"a":"\\ud800"}}',
    null,
    '{"jsonrpc":"2.0","id":ID,"method":"ping","params":{"a":"\\ud800"}}'
  ),
  message(
    "half a character in an argument",
    '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"lookup","arguments":{"a":"\\ud800"}}}',
    "denied"
  ),
  message(
    "a number beyond all numbers",
    '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"lookup","arguments":{"a":1e999}}}',
    -32_602
  ),
  message(
    "a name that is a prototype's",
    '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"__proto__":{"name":"lookup"},"name":"refund"}}',
    "denied"
  ),
  message("no version", `{"id":ID,"method":"tools/call",${REFUND}}`, -32_600),
  message("a list of params", '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":["refund"]}', -32_600),
  message("a method that is a list", `{"jsonrpc":"2.0","id":ID,"method":["tools/call"],${REFUND}}`, -32_600),
  message("a request with a result", `{"jsonrpc":"2.0","id":ID,"result":{},"method":"tools/call",${REFUND}}`, -32_600),
  message(
    "an id in another form",
    '{"jsonrpc":"2.0","id":1e3,"method":"ping"}',
    null,
    '{"jsonrpc":"2.0","id":1000,"method":"ping"}'
  ),
  ...["1.5", "true", "null", "{}", '["1"]', "1e999", "9007199254740993"].map((id) =>
    message(`the id ${id}`, `{"jsonrpc":"2.0","id":${id},"method":"tools/call",${REFUND}}`, -32_600)
  )
]
