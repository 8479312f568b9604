import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type BrokerLinkProps = { groupName: string; brokerId: string; children: ReactNode };

/** Leads to the page of a broker, by the id that name servers know it by now. */
export function BrokerLink({ groupName, brokerId, children }: BrokerLinkProps) {
  return (
    <Link
      to="/brokers/$groupName/$brokerId"
      params={{ groupName, brokerId }}
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      {children}
    </Link>
  );
}
