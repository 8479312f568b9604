import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type ReplicaGroupLinkProps = {
  brokerGroupName: string;
  className?: string | undefined;
  /** What stands there in place of the name, such as one of its brokers. */
  children?: ReactNode;
};

/** A group's name, which leads to its replicas. */
export function ReplicaGroupLink({ brokerGroupName, className, children }: ReplicaGroupLinkProps) {
  return (
    <Link
      to="/replica-groups/$brokerGroupName"
      params={{ brokerGroupName }}
      className={className}
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      {children ?? brokerGroupName}
    </Link>
  );
}
