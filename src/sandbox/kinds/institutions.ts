// Lists the banks and mobile-money services of each country, with real names and plausible codes.
import type { InstitutionType } from './payout-methods.js';

type Names = Readonly<Record<string, string>>;

const banks: Readonly<Record<string, Names>> = {
  CA: {
    '0001': 'Bank of Montreal',
    '0002': 'Scotiabank',
    '0003': 'Royal Bank of Canada',
    '0004': 'TD Canada Trust',
    '0006': 'National Bank of Canada',
    '0010': 'CIBC',
    '0815': 'Desjardins',
  },
  IN: {
    SBIN: 'State Bank of India',
    HDFC: 'HDFC Bank',
    ICIC: 'ICICI Bank',
    UTIB: 'Axis Bank',
    KKBK: 'Kotak Mahindra Bank',
    PUNB: 'Punjab National Bank',
  },
  ID: {
    '002': 'Bank BRI',
    '008': 'Bank Mandiri',
    '009': 'Bank BNI',
    '014': 'Bank BCA',
    '022': 'CIMB Niaga',
  },
  MY: {
    MBBEMYKL: 'Maybank',
    CIBBMYKL: 'CIMB Bank',
    PBBEMYKL: 'Public Bank',
    RHBBMYKL: 'RHB Bank',
    HLBBMYKL: 'Hong Leong Bank',
  },
  NG: {
    '011': 'First Bank of Nigeria',
    '033': 'United Bank for Africa',
    '044': 'Access Bank',
    '057': 'Zenith Bank',
    '058': 'Guaranty Trust Bank',
  },
  PH: {
    BNORPHMM: 'BDO Unibank',
    BOPIPHMM: 'Bank of the Philippine Islands',
    MBTCPHMM: 'Metrobank',
    TLBPPHMM: 'Landbank',
    UBPHPHMM: 'UnionBank',
  },
  RW: {
    BKIGRWRW: 'Bank of Kigali',
    EQBLRWRW: 'Equity Bank Rwanda',
    ECOCRWRW: 'Ecobank Rwanda',
    BPRWRWRW: 'BPR Bank Rwanda',
  },
  SG: {
    7171: 'DBS Bank',
    7339: 'OCBC Bank',
    7375: 'United Overseas Bank',
    9496: 'Standard Chartered Singapore',
  },
  KR: {
    '004': 'KB Kookmin Bank',
    '020': 'Woori Bank',
    '081': 'Hana Bank',
    '088': 'Shinhan Bank',
    '090': 'KakaoBank',
  },
  TH: {
    '002': 'Bangkok Bank',
    '004': 'Kasikornbank',
    '006': 'Krungthai Bank',
    '014': 'Siam Commercial Bank',
    '025': 'Bank of Ayudhya',
  },
  VN: {
    970403: 'Sacombank',
    970405: 'Agribank',
    970407: 'Techcombank',
    970415: 'VietinBank',
    970416: 'ACB',
    970418: 'BIDV',
    970422: 'MB Bank',
    970423: 'TPBank',
    970432: 'VPBank',
    970436: 'Vietcombank',
  },
};

const mobiles: Readonly<Record<string, Names>> = {
  KE: { MPESA: 'M-PESA', AIRTELKE: 'Airtel Money Kenya' },
  MY: { TNGD: "Touch 'n Go eWallet", BOOST: 'Boost', GRABMY: 'GrabPay' },
  NG: { OPAY: 'OPay', PALMPAY: 'PalmPay', PAGA: 'Paga' },
  RW: { MTNRW: 'MTN MoMo Rwanda', AIRTELRW: 'Airtel Money Rwanda' },
  BJ: { MTNBJ: 'MTN MoMo Benin', MOOVBJ: 'Moov Money Benin' },
  CI: {
    ORANGECI: "Orange Money Cote d'Ivoire",
    MTNCI: "MTN MoMo Cote d'Ivoire",
    MOOVCI: 'Moov Money',
    WAVECI: 'Wave',
  },
  GH: { MTNGH: 'MTN MoMo Ghana', TELECELGH: 'Telecel Cash', ATGH: 'AirtelTigo Money' },
  SN: { ORANGESN: 'Orange Money Senegal', FREESN: 'Free Money', WAVESN: 'Wave Senegal' },
  TW: { JKOPAY: 'JKOPay', LINEPAYTW: 'LINE Pay Taiwan', PXPAY: 'PX Pay Plus' },
  KH: { WING: 'Wing Bank', TRUEMONEYKH: 'TrueMoney Cambodia', PIPAY: 'Pi Pay' },
};

/**
 * The institutions of a country (ISO alpha-2 in capitals). For a country without payout methods,
 * the lists of institutions are empty.
 */
export function institutionsOf(country: string) {
  return { banks: list('bank', banks[country]), mobiles: list('mobile', mobiles[country]) };
}

export function hasInstitution(country: string, type: InstitutionType, code: string): boolean {
  return Object.hasOwn((type === 'bank' ? banks : mobiles)[country] ?? {}, code);
}

const list = (institutionType: InstitutionType, names: Names = {}) =>
  Object.entries(names).map(([institutionCode, institutionName]) => ({
    institutionCode,
    institutionType,
    institutionName,
  }));
