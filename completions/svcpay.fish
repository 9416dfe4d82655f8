# fish completion for svcpay
function __svcpay_offers
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    test -z "$current"; and set current ''
    set -l offers ($words[1] __complete fish $words[2..] $current 2>/dev/null)
    if test "$offers[1]" = ':files'
        __fish_complete_path "$current"
    else
        printf '%s\n' $offers
    end
end
complete -c svcpay -f -k -a '(__svcpay_offers)'
