import type { Role } from '@/gql/operations';

/** The least first. */
export const roles: readonly Role[] = ['VIEWER', 'OPERATOR', 'ADMIN'];

/** The role that the session names, as the graph spells it. */
export function roleOf(name: string): Role {
  return roles.find((role) => role.toLowerCase() === name) ?? 'VIEWER';
}

export function rolesUpTo(role: Role): readonly Role[] {
  return roles.slice(0, roles.indexOf(role) + 1);
}

export function isAdmin(name: string): boolean {
  return roleOf(name) === 'ADMIN';
}

/** Patterns of cluster names as they are typed: apart by commas or blanks; none means all. */
export function patternsIn(text: string): string[] {
  const patterns = text.split(/[\s,]+/).filter((pattern) => pattern !== '');
  return patterns.length > 0 ? patterns : ['*'];
}
