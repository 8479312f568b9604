import { createContext, useContext } from 'react';

/** What the control plane asks for; its own table says who has it. */
export type Permission =
  | 'identify'
  | 'sign'
  | 'read'
  | 'read_bodies'
  | 'change'
  | 'manage_own'
  | 'read_access'
  | 'manage_access';

export type Permissions = {
  /** Why each permission is lacking that is, in the words of the control plane. */
  refusals: Partial<Record<Permission, string>>;
  /** The highest class of operations that may be confirmed: R1, R2 or R3. */
  riskMax: string;
};

const PermissionsContext = createContext<Permissions>({ refusals: {}, riskMax: 'R3' });

export const PermissionsProvider = PermissionsContext.Provider;

/** Why the user lacks a permission, or undefined where they have it. */
export function useRefusal(permission: Permission): string | undefined {
  return useContext(PermissionsContext).refusals[permission];
}

/** Whether a plan is of a class that the user may not confirm, resume or retry. */
export function useIsBeyondRisk(risk: 'SMALL' | 'SERVICE' | 'LOSS'): boolean {
  const { riskMax } = useContext(PermissionsContext);
  return risk === 'LOSS' && riskMax !== 'R3';
}
