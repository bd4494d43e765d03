import { SessionError, type SessionRequest } from './protocol';

const secrets = ['password', 'username', 'userPassword'] as const;

/**
 * Asks with a request. When the service says that a password or username is wrong, this asks once more without what
 * comes along with a copied text: spaces around it, invisible characters, and non-breaking hyphens. A password that
 * really has them is right at the first try.
 */
export async function withTidySecrets<T>(
  request: SessionRequest,
  ask: (request: SessionRequest) => Promise<T>,
): Promise<T> {
  try {
    return await ask(request);
  } catch (error) {
    const wrong = error instanceof SessionError && ['WrongPassword', 'WrongLogin'].includes(error.reason);
    const tidy = tidied(request);
    if (!wrong || secrets.every((name) => tidy[name] === request[name])) throw error;
    return ask(tidy);
  }
}

function tidied(request: SessionRequest): SessionRequest {
  const tidy = { ...request };
  for (const name of secrets) {
    const said = request[name];
    if (said !== undefined)
      tidy[name] = said
        .replace(/\p{Cf}/gu, '')
        .replace(/[\u2010\u2011]/gu, '-')
        .trim();
  }
  return tidy;
}
