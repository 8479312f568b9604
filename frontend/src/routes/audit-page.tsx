import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { AuditFilters } from '@/features/audit/audit-filters';
import { exportPath } from '@/features/audit/audit-queries';
import { ChainPanel } from '@/features/audit/chain-panel';
import { clusterList } from '@/features/clusters/cluster-queries';
import { AuditPanel } from './audit-panel';

/** Who did what, in all clusters; and whether the record is as it was written. */
export function AuditPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/audit' });
  const view = useSearch({ from: '/console/audit' });
  const clusters = useQuery(clusterList).data?.data.clusters.nodes ?? [];
  const filter = { clusterName: view.of, actor: view.actor, operationId: view.operation };
  return (
    <Page
      title={t('audit.title')}
      summary={t('audit.summary')}
      actions={
        <>
          <AuditFilters
            clusterNames={clusters.map(({ name }) => name)}
            chosen={view}
            onChoose={(part) =>
              // A changed filter begins at the first page again.
              void navigate({
                search: (now) => ({ ...now, ...part, after: undefined }),
                replace: true,
              })
            }
          />
          <Button
            component="a"
            href={exportPath(filter)}
            download
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
          >
            {t('audit.export')}
          </Button>
        </>
      }
    >
      <ChainPanel />
      <AuditPanel filter={filter} after={view.after} />
    </Page>
  );
}
