import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type ReplicaGroupLinkProps = {
  groupName: string;
  className?: string | undefined;
  /** What stands there in place of the name, such as one of its brokers. */
  children?: ReactNode;
};

/** A group's name, which leads to its replicas. */
export function ReplicaGroupLink({ groupName, className, children }: ReplicaGroupLinkProps) {
  return (
    <Link
      to="/replica-groups/$groupName"
      params={{ groupName }}
      className={className}
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      {children ?? groupName}
    </Link>
  );
}
