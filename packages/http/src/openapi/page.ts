/** The interface description as one page to read: no script, no request for anything else. Spec: api.md, `/docs`. */
import { createHash } from "node:crypto"
import { escaped, paragraphs, table, withCode } from "./html.ts"
import type { JsonSchema } from "./json-schema.ts"
import type { OpenApi, Operation, Reference, Response } from "./document-types.ts"
import { boundsOf, membersTable, nameOf, shapeLink, typeOf } from "./page-shape.ts"

const style = `
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --link: #1558b0; }
@media (prefers-color-scheme: dark) { :root { --link: #8ab8ff; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem;
  border-right: 1px solid var(--line); font-size: .875rem; }
nav ul { list-style: none; margin: 0 0 .75rem; padding: 0; }
nav li { margin: .125rem 0; overflow-wrap: anywhere; }
main { padding: 1.5rem 2rem 6rem; max-width: 72rem; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3 { margin-top: 2.25rem; overflow-wrap: anywhere; }
h3 code { font-size: 1rem; background: none; padding: 0; }
code { font: .875em ui-monospace, monospace; background: var(--soft); padding: 0 .2em; border-radius: 3px;
  overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid var(--line); }
.method { display: inline-block; min-width: 3.5em; font-weight: 700; }
@media (max-width: 60rem) { body { display: block; }
  nav { position: static; height: auto; border: 0; } main { padding: 1rem; } }
`

/** The Content-Security-Policy of the page: its own style sheet by its digest, and nothing else from anywhere. */
export const PAGE_POLICY =
  "default-src 'none'; style-src " +
  `'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; ` +
  "form-action 'none'; frame-ancestors 'none'"

interface Placed {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** The page. */
export const page = (of: OpenApi, json = "/openapi.json"): string => {
  const placed = Object.entries(of.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Placed => ({ method: method.toUpperCase(), path, operation }))
  )
  const groups = of.tags.map((tag) => ({
    ...tag,
    placed: placed.filter(({ operation }) => operation.tags.includes(tag.name))
  }))
  const problems = new Set(
    Object.values(of.components.responses)
      .flatMap((response) => problemNames(response))
      .filter((name) => name !== VALIDATION)
  )
  const shapes = Object.entries(of.components.schemas).filter(([name]) => !problems.has(name))
  const { description, title, version } = of.info
  const hasEvents = Object.keys(of.webhooks).length > 0
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} ${escaped(version)}: interface</title>
<style>${style}</style>
</head>
<body>
<nav aria-label="Contents">
${groups
  .map(
    ({ name, placed }) =>
      "<a " +
      `href="#group-${escaped(name)}">${escaped(heading(name))}</a>\n<ul>${placed
        .map(
          (one) =>
            "<li><a " +
            `href="#${escaped(one.operation.operationId)}">${escaped(one.method)} ` +
            `${escaped(one.path)}</a></li>`
        )
        .join("\n")}</ul>`
  )
  .join("\n")}
${hasEvents ? eventLinks(of) : ""}<a href="#refusals">Refusals</a>
<ul></ul>
<a href="#shapes">Shapes</a>
<ul>${shapes.map(([name]) => `<li>${shapeLink(name)}</li>`).join("\n")}</ul>
</nav>
<main>
<h1>${escaped(title)}</h1>
<p>Interface ${escaped(version)}. The same for programs:
<a href="${escaped(json)}">${escaped(json)}</a> (OpenAPI ${escaped(of.openapi)}).</p>
${paragraphs(description)}
${Object.values(of.components.securitySchemes)
  .map((scheme) => paragraphs(scheme.description))
  .join("\n")}
${groups
  .map(
    ({ description, name, placed }) =>
      `<section><h2 id="group-${escaped(name)}">${escaped(heading(name))}</h2>\n${paragraphs(description)}\n` +
      `${placed.map((one) => operationOf(of, one)).join("\n")}</section>`
  )
  .join("\n")}
${hasEvents ? eventsOf(of) : ""}<section><h2 id="refusals">Refusals</h2>
${table(
  ["code", "members", "says"],
  [...problems].sort().map((name) => refusalRow(name, of.components.schemas[name]!))
)}</section>
<section><h2 id="shapes">Shapes</h2>
${shapes
  .map(([name, schema]) => `<h3 id="shape-${escaped(name)}">${escaped(name)}</h3>\n${membersTable(schema)}`)
  .join("\n")}</section>
</main>
</body>
</html>
`
}

const eventLinks = (of: OpenApi): string => `<a href="#events">Events</a>
<ul>${Object.keys(of.webhooks)
  .map((type) => `<li><a href="#event-${escaped(type)}">${escaped(type)}</a></li>`)
  .join("\n")}</ul>
`

const eventsOf = (of: OpenApi): string => `<section><h2 id="events">Events</h2>
<p>What the server sends to webhooks.</p>
${Object.entries(of.webhooks)
  .map(
    ([type, { post }]) =>
      `<h3 id="event-${escaped(type)}"><code>${escaped(type)}</code></h3>\n<p>${withCode(post.summary)}</p>\n` +
      membersTable(post.requestBody.content["application/json"]!.schema)
  )
  .join("\n")}</section>
`

/** The one answer whose body is not a sentence and a code. */
const VALIDATION = "HTTPValidationError"

const heading = (group: string): string => group.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase())

const operationOf = (of: OpenApi, { method, operation, path }: Placed): string => {
  const { description, operationId, parameters, requestBody, responses, summary } = operation
  return [
    `<h3 id="${escaped(operationId)}"><code><span class="method">${escaped(method)}</span> ` +
      `${escaped(path)}</code></h3>`,
    `<p>${withCode(summary)} ${withCode(description)}</p>`,
    table(
      ["parameter", "in", "needed", "type", "bounds"],
      parameters.map(({ in: place, name, required, schema }) => [
        `<code>${escaped(name)}</code>`,
        place,
        required ? "yes" : "no",
        typeOf(schema),
        boundsOf(schema)
      ])
    ),
    requestBody === undefined
      ? ""
      : "<p>Body: " +
        `${typeOf(requestBody.content["application/json"]!.schema)}${requestBody.required ? "" : ", or none"}. ` +
        `${withCode(requestBody.description)}</p>`,
    table(
      ["status", "answer"],
      Object.entries(responses).map(([status, response]) => [escaped(status), answerOf(of, response)])
    )
  ].join("\n")
}

const answerOf = (of: OpenApi, response: Response | Reference): string => {
  if ("$ref" in response) {
    return problemNames(of.components.responses[nameOf(response.$ref)]!)
      .map((name) =>
        name === VALIDATION
          ? `<a href="#shape-${VALIDATION}">every problem of the input</a>`
          : `<a href="#refusal-${escaped(name)}"><code>${escaped(codeOf(of.components.schemas[name]!))}</code></a>`
      )
      .join(", ")
  }
  return Object.entries(response.content)
    .map(([media, { schema }]) =>
      media === "application/json"
        ? typeOf(schema)
        : `<code>${escaped(media)}</code>` +
          (schema["description"] === undefined ? "" : ` ${withCode(String(schema["description"]))}`)
    )
    .join("<br>")
}

/** Names of the schemas of an answer that is not a success. */
const problemNames = ({ content }: Response): ReadonlyArray<string> => {
  const schema = content["application/json"]?.schema
  const listed = schema?.["oneOf"] ?? schema?.["anyOf"] ?? [schema]
  return (listed as ReadonlyArray<JsonSchema>).map((one) => nameOf(one["$ref"]))
}

/** The members of a problem: those of its one member `error`, where it has that. */
const properties = (schema: JsonSchema): { readonly [name: string]: JsonSchema } => {
  const all = schema["properties"] as { readonly [name: string]: JsonSchema }
  return all["error"] === undefined ? all : properties(all["error"])
}
const codeOf = (schema: JsonSchema): string => String(properties(schema)["code"]!["const"])

const refusalRow = (name: string, schema: JsonSchema): ReadonlyArray<string> => {
  const beside = Object.entries(properties(schema)).filter(([member]) => member !== "detail" && member !== "code")
  const [example] = (schema["examples"] ?? []) as ReadonlyArray<{ readonly detail: string }>
  return [
    `<code id="refusal-${escaped(name)}">${escaped(codeOf(schema))}</code>`,
    beside.map(([member, its]) => `<code>${escaped(member)}</code> ${typeOf(its)}`).join("<br>"),
    escaped(example?.detail ?? "")
  ]
}
