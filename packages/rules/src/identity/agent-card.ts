/**
 * Schema of an A2A agent card, as data: every member of every message, and whether its default is left out of the
 * signed text.
 *
 * Spec: A2A 1.0, `AgentCard` and what it refers to; section 8.4.1 for what is left out.
 */

/** The type of a member's value. `any`: an object whose members no schema names. */
export type CardType =
  | { readonly type: "text" | "flag" | "any" }
  | { readonly type: "message"; readonly of: CardMessage }
  | { readonly type: "list" | "map"; readonly of: CardType }

/**
 * A member. `kept`: it is signed whenever it is there; others are left out when they hold their default: an empty text,
 * list or map, or false.
 */
export interface CardMember {
  readonly is: CardType
  readonly kept: boolean
}

/** The members of a message by name. */
export type CardMessage = { readonly [name: string]: CardMember }

const text: CardType = { type: "text" }
const flag: CardType = { type: "flag" }
const any: CardType = { type: "any" }
const list = (of: CardType): CardType => ({ type: "list", of })
const map = (of: CardType): CardType => ({ type: "map", of })
const message = (of: CardMessage): CardType => ({ type: "message", of })

/** Required members, those whose absence means something of its own, and messages. */
const kept = (is: CardType): CardMember => ({ is, kept: true })
/** Members whose default says no more than their absence. */
const bare = (is: CardType): CardMember => ({ is, kept: false })

const security = list(message({ schemes: bare(map(message({ list: bare(list(text)) }))) }))
const scopes = map(text)

const flows = message({
  authorizationCode: kept(
    message({
      authorizationUrl: kept(text),
      tokenUrl: kept(text),
      refreshUrl: bare(text),
      scopes: kept(scopes),
      pkceRequired: bare(flag)
    })
  ),
  clientCredentials: kept(message({ tokenUrl: kept(text), refreshUrl: bare(text), scopes: kept(scopes) })),
  implicit: kept(message({ authorizationUrl: bare(text), refreshUrl: bare(text), scopes: bare(scopes) })),
  password: kept(message({ tokenUrl: bare(text), refreshUrl: bare(text), scopes: bare(scopes) })),
  deviceCode: kept(
    message({ deviceAuthorizationUrl: kept(text), tokenUrl: kept(text), refreshUrl: bare(text), scopes: kept(scopes) })
  )
})

const scheme = message({
  apiKeySecurityScheme: kept(message({ description: bare(text), location: kept(text), name: kept(text) })),
  httpAuthSecurityScheme: kept(message({ description: bare(text), scheme: kept(text), bearerFormat: bare(text) })),
  oauth2SecurityScheme: kept(message({ description: bare(text), flows: kept(flows), oauth2MetadataUrl: bare(text) })),
  openIdConnectSecurityScheme: kept(message({ description: bare(text), openIdConnectUrl: kept(text) })),
  mtlsSecurityScheme: kept(message({ description: bare(text) }))
})

const skill = message({
  id: kept(text),
  name: kept(text),
  description: kept(text),
  tags: kept(list(text)),
  examples: bare(list(text)),
  inputModes: bare(list(text)),
  outputModes: bare(list(text)),
  securityRequirements: bare(security)
})

const extension = message({ uri: bare(text), description: bare(text), required: bare(flag), params: kept(any) })

/** The card. `signatures` is no part of what is signed, and is taken away before. */
export const agentCard: CardMessage = {
  name: kept(text),
  description: kept(text),
  supportedInterfaces: kept(
    list(message({ url: kept(text), protocolBinding: kept(text), tenant: bare(text), protocolVersion: kept(text) }))
  ),
  provider: kept(message({ url: kept(text), organization: kept(text) })),
  version: kept(text),
  documentationUrl: kept(text),
  capabilities: kept(
    message({
      streaming: kept(flag),
      pushNotifications: kept(flag),
      extensions: bare(list(extension)),
      extendedAgentCard: kept(flag),
      skillQuery: kept(flag)
    })
  ),
  securitySchemes: bare(map(scheme)),
  securityRequirements: bare(security),
  defaultInputModes: kept(list(text)),
  defaultOutputModes: kept(list(text)),
  skills: kept(list(skill)),
  iconUrl: kept(text)
}
