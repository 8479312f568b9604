import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type OperationLinkProps = { operationId: string; children: ReactNode };

/** Leads to the page of an operation: its plan, its journal, how it ended. */
export function OperationLink({ operationId, children }: OperationLinkProps) {
  return (
    <Link
      to="/operations/$operationId"
      params={{ operationId }}
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      {children}
    </Link>
  );
}
