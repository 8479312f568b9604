import { Link } from '@tanstack/react-router';

type ReplicaGroupLinkProps = { groupName: string; className?: string | undefined };

/** A group's name, which leads to its replicas. */
export function ReplicaGroupLink({ groupName, className }: ReplicaGroupLinkProps) {
  return (
    <Link
      to="/replica-groups/$groupName"
      params={{ groupName }}
      className={className}
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      {groupName}
    </Link>
  );
}
