import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { SearchField } from '@/components/search-field';
import classes from '@/features/transactions/transaction-filters.module.css';
import { TransactionsPanel } from './transactions-panel';
import type { TransactionsSearch } from './transactions-route';
import { WithCluster } from './with-cluster';

/** The transactions that wait for a decision, and what an operator can do about each. */
export function TransactionsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/transactions' });
  const { group, topic } = useSearch({ from: '/console/transactions' });
  // A changed filter begins at the first page again.
  const narrow = (part: TransactionsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined }), replace: true });
  return (
    <Page
      title={t('nav.transactions')}
      summary={t('transactions.summary')}
      actions={
        <search className={classes.filters}>
          <SearchField
            label={t('transactions.producerGroup')}
            search={group}
            onSearch={(name) => narrow({ group: name })}
          />
          <SearchField
            label={t('transactions.topic')}
            search={topic}
            onSearch={(name) => narrow({ topic: name })}
          />
        </search>
      }
    >
      <WithCluster>{(name) => <TransactionsPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
