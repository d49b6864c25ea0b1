/**
 * Walks what Effect Schema found and says it in pydantic's words. Spec: document 1 section 7; the words are in
 * detail.ts.
 */
import { SchemaAST, SchemaIssue } from "effect"
import { type DetailItem, detailItem, type DetailType } from "./detail.ts"
import type { CheckDetail } from "./fields.ts"

/**
 * Problems listed for one input.
 *
 * - Unit: items. A full batch with ten bad members each fits; a body of nothing but wrong names is not answered by ten
 *   times its size.
 */
export const MAX_DETAILS = 10_000

/** Every problem in an issue, each place once, `base` being where the input came from. */
export const detailsOf = (issue: SchemaIssue.Issue, base: ReadonlyArray<string>): ReadonlyArray<DetailItem> => {
  const found: Array<DetailItem> = []
  const places = new Set<string>()
  const add = (
    path: ReadonlyArray<string>,
    type: DetailType,
    msg: string,
    input: unknown,
    ctx: { readonly [name: string]: unknown } = {}
  ): void => {
    const place = JSON.stringify(path)
    if (places.has(place) || found.length >= MAX_DETAILS) return
    places.add(place)
    found.push(detailItem(path, type, msg, input, ctx))
  }
  const walk = (one: SchemaIssue.Issue, path: ReadonlyArray<string>): void => {
    switch (one._tag) {
      case "Pointer":
        return walk(one.issue, [...path, ...one.path.map(String)])
      case "Encoding":
        return walk(one.issue, path)
      case "Composite":
        return one.issues.forEach((inner) => walk(inner, path))
      case "AnyOf":
        return one.issues.length > 0 ? one.issues.forEach((inner) => walk(inner, path)) : addType(one.ast, one, path)
      case "MissingKey":
        return add(path, "missing", "Field required", null)
      case "UnexpectedKey":
        return add(path, "extra_forbidden", "Extra inputs are not permitted", inputOf(one))
      case "InvalidType":
        return addType(one.ast, one, path)
      case "Filter": {
        const detail = one.filter.annotations?.["detail"] as CheckDetail | undefined
        return detail === undefined
          ? walk(one.issue, path)
          : add(path, detail.type, detail.msg, inputOf(one), detail.ctx)
      }
      default:
        return add(path, "value_error", String(one), inputOf(one))
    }
  }
  const addType = (ast: SchemaAST.AST, one: SchemaIssue.Issue, path: ReadonlyArray<string>): void => {
    const [type, msg, ctx] = typeProblem(ast)
    add(path, type, msg, inputOf(one), ctx)
  }
  walk(issue, base)
  return found
}

const inputOf = (issue: SchemaIssue.Issue): unknown => (SchemaIssue.hasInput(issue) ? issue.input : null)

type TypeProblem = readonly [DetailType, string, { readonly [name: string]: unknown }?]

/** True when a number has to be an integer. */
const isWhole = ({ checks }: SchemaAST.AST): boolean =>
  (checks ?? []).some(({ annotations }) => (annotations?.["detail"] as CheckDetail | undefined)?.type === "int_type")

const typeProblem = (ast: SchemaAST.AST): TypeProblem => {
  switch (ast._tag) {
    case "String":
      return ["string_type", "Input should be a valid string"]
    case "Number":
      return isWhole(ast)
        ? ["int_type", "Input should be a valid integer"]
        : ["float_type", "Input should be a valid number"]
    case "Boolean":
      return ["bool_type", "Input should be a valid boolean"]
    case "Arrays":
      return ["list_type", "Input should be a valid list"]
    case "Objects":
      return ["dict_type", "Input should be a valid dictionary"]
    case "Literal":
      return ["literal_error", `Input should be ${quoted(ast)}`, { expected: quoted(ast) }]
    case "Union":
      return unionProblem(ast.types.filter((type) => type._tag !== "Null"))
    default:
      return ["value_error", "Input is not valid"]
  }
}

const unionProblem = (types: ReadonlyArray<SchemaAST.AST>): TypeProblem => {
  if (types.length === 1) return typeProblem(types[0]!)
  if (types.every(SchemaAST.isLiteral)) {
    const expected = types.map(quoted).join(", ")
    return ["enum", `Input should be one of ${expected}`, { expected }]
  }
  return ["value_error", "Input matches none of the allowed forms"]
}

const quoted = (ast: SchemaAST.AST): string => (SchemaAST.isLiteral(ast) ? `'${String(ast.literal)}'` : "a value")
