/** A person's session: the token that is valid now, refreshed where it is about to end. */
import { type Client, findProvider, LoginFailed, post, tokensOf, type World } from "./provider.ts"
import { readSession, type Session, whileLocked, writeSession } from "./session-file.ts"

/** A token that ends sooner is refreshed. Unit: milliseconds. */
const REFRESH_BEFORE_MS = 60_000

/**
 * The session with a token that is valid now.
 *
 * - Fails: with {@link LoginFailed}, where nobody signed in, or the session has ended.
 */
export const currentSession = async (file: string, world: World): Promise<Session> => {
  const kept = await readSession(file)
  if (kept === null) throw new LoginFailed("nobody has signed in here. Run flyball login first")
  if (isFresh(kept, world)) return kept
  return whileLocked(file, world, async () => {
    // Another process may have refreshed it meanwhile.
    const session = (await readSession(file)) ?? kept
    if (isFresh(session, world)) return session
    const next = await refreshed(session)
    await writeSession(file, next)
    return next
  })
}

const isFresh = ({ expiresAtMs }: Session, world: World): boolean => expiresAtMs - world.nowMs() > REFRESH_BEFORE_MS

const refreshed = async (session: Session): Promise<Session> => {
  const { issuer, refreshToken } = session
  const client: Client = session
  if (refreshToken === null)
    throw new LoginFailed(`the session has ended, and ${issuer} gave nothing to extend it. Run flyball login again`)
  const provider = await findProvider(issuer)
  // Without a scope: the provider may have granted less than was requested, and refuses more than it granted.
  const answer = await post(provider.token, {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: client.clientId,
    client_secret: client.clientSecret
  })
  if (!answer.ok)
    throw new LoginFailed(`the session has ended at ${issuer} (${answer.sentence}). Run flyball login again`)
  const tokens = tokensOf(provider, client, answer.members)
  return { ...session, ...tokens, refreshToken: tokens.refreshToken ?? refreshToken }
}
