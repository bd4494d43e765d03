import { createContext, useContext } from 'react';
import type { Call } from './call';

const context = createContext<Call | undefined>(undefined);

export const CallProvider = context.Provider;

export function useCall(): Call {
  const call = useContext(context);
  if (!call) throw new Error('useCall needs a CallProvider');
  return call;
}
