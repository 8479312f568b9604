import { useTranslation } from 'react-i18next';
import { Notice } from './notice';

type UnknownBroker = { name: string; address: string; why: string };

/** Names the brokers that did not tell, so that what is missing is never taken for none. */
export function UnknownBrokers({ unknown }: { unknown: UnknownBroker[] }) {
  const { t } = useTranslation();
  if (unknown.length === 0) return null;
  return (
    <Notice tone="warn" title={t('unknownBrokers.title', { count: unknown.length })}>
      {unknown.map((one) => `${one.name} (${one.address}): ${one.why}`).join(' · ')}
    </Notice>
  );
}
