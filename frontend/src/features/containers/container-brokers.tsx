import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { BrokerLink } from '@/components/broker-link';
import { DataTable } from '@/components/data-table';
import { Panel } from '@/components/panel';
import { columnsFor } from '@/components/table-features';
import { WriteButton } from '@/components/write-button';
import { wordOf } from './container-broker-word';
import classes from './container-brokers.module.css';
import type { Container, InnerBroker } from './container-queries';

const column = columnsFor<InnerBroker>();

type ContainerBrokersProps = {
  container: Container;
  onRemove: (container: Container, word: string) => void;
};

/** The brokers of one container: their files, their roles, and why one does not run. */
export function ContainerBrokers({ container, onRemove }: ContainerBrokersProps) {
  const { t } = useTranslation();
  const title = t('containers.container', { address: container.address });
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', {
          header: t('containers.broker'),
          cell: ({ row: { original } }) =>
            original.name === null ? (
              original.brokerGroupName || t('containers.noName')
            ) : (
              <BrokerLink name={original.name} clusterName={original.clusterName} />
            ),
        }),
        column.accessor('clusterName', { header: t('containers.cluster') }),
        column.accessor(
          (one) => (one.name === null ? '' : t(one.isMaster ? 'role.MASTER' : 'role.REPLICA')),
          { id: 'role', header: t('containers.role') },
        ),
        column.accessor((one) => one.path ?? t('containers.unknown'), {
          id: 'path',
          header: t('containers.file'),
          cell: ({ getValue }) => <code>{getValue()}</code>,
        }),
        column.accessor((one) => one.failure ?? t('containers.runs'), {
          id: 'state',
          header: t('containers.state'),
          meta: { wraps: true },
        }),
        column.display({
          id: 'actions',
          header: t('table.actions'),
          cell: ({ row: { original } }) => {
            const word = wordOf(original);
            return word === null ? null : (
              <WriteButton
                needs="change"
                size="compact-xs"
                variant="default"
                aria-label={t('containers.removeLabel', { name: word })}
                onClick={() => onRemove(container, word)}
              >
                {t('containers.remove')}
              </WriteButton>
            );
          },
        }),
      ]),
    [t, container, onRemove],
  );
  return (
    <Panel title={title} flush>
      {container.whyUnknown === null ? null : (
        <p className={classes.note}>{t('containers.silent', { why: container.whyUnknown })}</p>
      )}
      <DataTable
        label={title}
        rows={container.brokers}
        columns={columns}
        rowId={(one) => [one.path, one.name].join(' ')}
      />
    </Panel>
  );
}
