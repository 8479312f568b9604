import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { Panel } from '@/components/panel';
import { UnknownBrokers } from '@/components/unknown-brokers';
import type { ClientQuery } from '@/gql/operations';
import { addressesOf, versionsOf } from './client';
import { ConnectionTable } from './connection-table';
import { HeardFigure } from './heard-figure';

type ClientSectionsProps = { found: NonNullable<ClientQuery['client']>; observedAtMs: number };

/** What the brokers report about one client. */
export function ClientSections({ found, observedAtMs }: ClientSectionsProps) {
  const { t } = useTranslation();
  const { client, unknown } = found;
  const none = t('clients.noGroup');
  return (
    <>
      <UnknownBrokers unknown={unknown} />
      <Facts>
        <Fact label={t('clients.roles')}>
          {client.roles.map((role) => t(`clientRole.${role}`)).join(', ')}
        </Fact>
        <Fact label={t('clients.consumes')}>
          {client.consumerGroups.length === 0 ? none : null}
          {client.consumerGroups.map((name, index) => (
            <span key={name}>
              {index > 0 ? ', ' : ''}
              <Link
                to="/consumer-groups/$consumerGroup"
                params={{ consumerGroup: name }}
                search={(now) => (now.cluster ? { cluster: now.cluster } : {})}
              >
                {name}
              </Link>
            </span>
          ))}
        </Fact>
        <Fact label={t('clients.produces')}>{client.producerGroups.join(', ') || none}</Fact>
        <Fact label={t('clients.address')}>{addressesOf(client).join(', ')}</Fact>
        <Fact label={t('clients.version')}>{versionsOf(client).join(', ')}</Fact>
        <Fact label={t('clients.heard')}>
          <HeardFigure heardMs={client.heardMs} />
        </Fact>
      </Facts>
      <Panel title={t('connection.title')} aside={<Answered atMs={observedAtMs} />} flush>
        <ConnectionTable connections={client.connections} />
      </Panel>
    </>
  );
}
