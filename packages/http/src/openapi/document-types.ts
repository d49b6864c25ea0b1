/** Types of the OpenAPI 3.1 document: the parts of the standard that it uses. */
import type { JsonSchema } from "./json-schema.ts"

/** A header of a response. */
export interface Header {
  readonly description: string
  readonly required?: boolean
  readonly schema: JsonSchema
}

/** A reference to a component. */
export interface Reference {
  readonly $ref: string
}

/** A response of one status. */
export interface Response {
  readonly description: string
  readonly headers: { readonly [name: string]: Header | Reference }
  readonly content: { readonly [media: string]: { readonly schema: JsonSchema } }
}

/** A parameter of a path, a query or the head. */
export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
  readonly schema: JsonSchema
  readonly example?: unknown
}

/** One endpoint. */
export interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary: string
  readonly description: string
  readonly security?: ReadonlyArray<{ readonly [scheme: string]: ReadonlyArray<string> }>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: {
    readonly required: boolean
    readonly description: string
    readonly content: { readonly [media: string]: { readonly schema: JsonSchema } }
  }
  readonly responses: { readonly [status: string]: Response | Reference }
}

/** One event: a request that the server makes. */
export interface Webhook {
  readonly summary: string
  readonly security: ReadonlyArray<never>
  readonly requestBody: {
    readonly required: true
    readonly content: { readonly [media: string]: { readonly schema: JsonSchema } }
  }
  readonly responses: { readonly [status: string]: { readonly description: string } }
}

/** The document. Spec: document 1 section 9; decision 0017. */
export interface OpenApi {
  readonly openapi: "3.1.0"
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly security: ReadonlyArray<{ readonly [scheme: string]: ReadonlyArray<string> }>
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly webhooks: { readonly [type: string]: { readonly post: Webhook } }
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonSchema }
    readonly responses: { readonly [name: string]: Response }
    readonly headers: { readonly [name: string]: Header }
    readonly securitySchemes: {
      readonly [name: string]: { readonly type: "http"; readonly scheme: "bearer"; readonly description: string }
    }
  }
}
